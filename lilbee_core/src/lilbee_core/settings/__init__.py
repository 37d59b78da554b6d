"""Settings: frozen sections, merged once from defaults, files, environment and arguments."""

from lilbee_core.settings._load import load_settings, parse_value
from lilbee_core.settings._places import (
    DATA_FOLDER,
    environment,
    find_library,
    user_cache_dir,
    user_config_dir,
    user_data_dir,
)
from lilbee_core.settings._sections import (
    GATED,
    AnswerSettings,
    ChatSettings,
    ChunkSettings,
    CollectionSettings,
    ConceptSettings,
    CrawlSettings,
    FleetSettings,
    IngestSettings,
    ModelSettings,
    PluginSettings,
    SearchSettings,
    StoreSettings,
    WatchSettings,
    WikiSettings,
    description_of,
    sections,
)
from lilbee_core.settings._settings import Settings, validated_collection, validated_profile
from lilbee_core.settings._toml import change_config, read_config
from lilbee_core.settings._trust import is_trusted, new_library_id, trust

__all__ = [
    "DATA_FOLDER", "GATED", "AnswerSettings", "ChatSettings", "ChunkSettings", "CollectionSettings",
    "ConceptSettings", "CrawlSettings", "FleetSettings", "IngestSettings", "ModelSettings", "PluginSettings",
    "SearchSettings", "Settings", "StoreSettings", "WatchSettings", "WikiSettings", "change_config",
    "description_of", "environment", "find_library", "is_trusted", "load_settings", "new_library_id", "parse_value",
    "read_config", "sections", "trust", "user_cache_dir", "user_config_dir", "user_data_dir", "validated_collection",
    "validated_profile",
]  # fmt: skip
