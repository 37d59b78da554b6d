"""Long work in the background: cancellable, with progress, and seen by every process that opens the library."""

from lilbee_core.jobs._job import Job
from lilbee_core.jobs._jobs import Jobs, Work
from lilbee_core.jobs._record import JobRecord, JobState

__all__ = ["Job", "JobRecord", "JobState", "Jobs", "Work"]
