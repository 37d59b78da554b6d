"""The settings, one frozen section per feature. Every field has one flat public name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator, model_validator

_SECRET: dict[str, JsonValue] = {"secret": True}
Fraction = Annotated[float, Field(ge=0.0, le=1.0)]
Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0.0)]
NotNegative = Annotated[float, Field(ge=0.0)]


class Section(BaseModel):
    """Base of the sections: frozen, no unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


class ModelSettings(Section):
    """Which model serves which role, and where its server is. ``none`` switches a role off."""

    embedding_model: str = Field(
        default="auto", description="Embedding model: auto (built in), none, or provider/name."
    )
    embedding_max_tokens: Positive = Field(
        default=512, description="What the embedding model reads of one text, in tokens; the built-in one knows."
    )
    chat_model: str = Field(default="auto", description="Chat model: auto, none, or provider/name.")
    vision_model: str = Field(default="none", description="Vision model that reads scans: none, or provider/name.")
    reranker_model: str = Field(default="", description="Reranker: empty for none, or provider/name.")
    llm_provider: Literal["auto", "remote"] = Field(
        default="auto", description="auto: by prefix; remote: always the SDK."
    )
    openai_base_url: str = Field(default="", description="Base URL of an OpenAI-style server, ending in /v1.")
    openai_api_key: str = Field(default="", description="Key for openai/ models.", json_schema_extra=_SECRET)
    ollama_base_url: str = Field(default="http://localhost:11434", description="Base URL of Ollama.")
    lm_studio_base_url: str = Field(default="http://localhost:1234/v1", description="Base URL of LM Studio.")
    request_timeout_s: Seconds = Field(default=120.0, description="Longest wait for a reply of a model server.")
    connect_timeout_s: Seconds = Field(default=5.0, description="Longest wait for a connection to a model server.")
    query_timeout_s: Seconds = Field(
        default=5.0, description="Longest wait of a search for vectors, or for the first word of a chat model."
    )
    rerank_timeout_s: Seconds = Field(default=20.0, description="Longest wait of a search for a reranker.")
    first_token_timeout_s: Seconds = Field(
        default=90.0, description="Longest wait for the first word of an answer, or for the next one."
    )
    request_retries: Count = Field(default=2, description="Tries after a failed connection, 429 or 503.")
    num_ctx: Count = Field(default=0, description="Context length of the chat model in tokens; 0 asks the server.")


class ChunkSettings(Section):
    """How documents are cut. A change needs `lilbee rebuild`."""

    chunk_size: Positive = Field(default=512, description="Target size of a chunk, in the embedder's tokens.")
    chunk_overlap: Count = Field(default=100, description="Tokens that neighboring chunks share.")
    chunking: Literal["tokens", "semantic"] = Field(
        default="tokens",
        description="Where prose is cut: tokens (sections, paragraphs, size), or semantic (also where topics change).",
    )
    chunk_topic_percentile: Annotated[int, Field(ge=50, le=99)] = Field(
        default=90, description="How rare a change of topic is in semantic chunking; 90 is a tenth of all sentences."
    )

    @model_validator(mode="after")
    def _overlap_fits(self) -> ChunkSettings:
        if self.chunk_overlap >= self.chunk_size:
            raise ValueError(f"chunk_overlap {self.chunk_overlap} must be smaller than chunk_size {self.chunk_size}")
        return self


class IngestSettings(Section):
    """How files are found and read."""

    ignore: tuple[str, ...] = Field(default=(), description="Ignore patterns beside .gitignore and .lilbeeignore.")
    use_gitignore: bool = Field(default=True, description="Honor .gitignore files.")
    default_ignores: bool = Field(default=True, description="Skip caches, build folders and version control data.")
    max_file_mb: Positive = Field(default=512, description="Largest text file that is read.")
    max_binary_mb: Positive = Field(default=256, description="Largest file given to an extractor process.")
    max_text_chars: Positive = Field(default=400_000_000, description="Longest text that may come out of one file.")
    extract_timeout_s: Seconds = Field(default=60.0, description="Longest time for one file in an extractor process.")
    extract_memory_mb: Positive = Field(default=1024, description="Address space of an extractor process (Linux).")
    extract_workers: Count = Field(default=0, description="Extractor processes; 0 is one per core, at most 4.")
    extract_password: str = Field(
        default="", description="Passwords to try on protected files, one a line.", json_schema_extra=_SECRET
    )
    extract_prefer: tuple[str, ...] = Field(default=(), description="Extractors to prefer, by name.")
    archive_max_members: Positive = Field(default=5_000, description="Most files in one archive or mail.")
    archive_max_mb: Positive = Field(default=400, description="Most that the files of one archive may unpack to.")
    archive_max_member_mb: Positive = Field(
        default=128, description="Largest file in an archive, and part of an Office file."
    )
    archive_max_depth: Positive = Field(default=3, description="Archives and mails in each other that are read.")
    ocr: Literal["auto", "off", "force"] = Field(
        default="auto", description="Text recognition: auto (pages without text), off, or force (all pages)."
    )
    ocr_languages: tuple[str, ...] = Field(
        default=("en",), description="Languages of scans: ISO 639-1, or what the engine calls them (chi_sim)."
    )
    ocr_timeout_s: Seconds = Field(default=60.0, description="Longest time to recognize one page.")
    ocr_max_megapixels: Positive = Field(
        default=200, description="Largest image that is recognized, in millions of pixels."
    )
    ocr_prefer: tuple[str, ...] = Field(default=(), description="Text recognition engines to try first, by name.")
    batch_documents: Positive = Field(default=64, description="Most documents in one committed batch.")
    batch_seconds: Seconds = Field(default=5.0, description="Longest time before a batch is committed.")
    embed_batch_size: Positive = Field(default=64, description="Texts per request to a remote embedder.")
    embed_concurrency: Positive = Field(default=2, description="Requests to a remote embedder at the same time.")
    ingest_concurrency: Literal["static", "adaptive-conservative", "adaptive-aggressive"] | Positive = Field(
        default="static",
        description="Files being read at once: static (two per extractor process, or what vision servers take), a "
        "number, or found by measurement where these run on cards: adaptive-conservative, adaptive-aggressive.",
    )

    @field_validator("ingest_concurrency", mode="before")
    @classmethod
    def _adaptive(cls, value: object) -> object:
        return "adaptive-conservative" if value == "adaptive" else value

    @field_validator("ocr", mode="before")
    @classmethod
    def _on_or_off(cls, value: object) -> object:
        words = {"true": "auto", "on": "auto", "yes": "auto", "false": "off", "no": "off"}
        if isinstance(value, bool):
            return "auto" if value else "off"
        return words.get(value.strip().lower(), value) if isinstance(value, str) else value


class WatchSettings(Section):
    """Watching the folders, so that changes are indexed as they happen."""

    watch: bool = Field(default=False, description="Watch the folders while `lilbee serve` runs.")
    watch_debounce_s: Seconds = Field(default=1.0, description="Quiet seconds after which changes are indexed.")
    watch_polling: Literal["auto", "always", "never"] = Field(
        default="auto",
        description="Look for changes now and then: auto (on shares, and where the system cannot tell of them), "
        "always, or never.",
    )
    watch_poll_s: Seconds = Field(default=10.0, description="Seconds between two such looks.")


class StoreSettings(Section):
    """The index."""

    lock_timeout_s: Seconds = Field(default=60.0, description="How long to wait for another writer.")
    vector_cache_mb: Count = Field(default=512, description="Memory for the exact vector search; 0 switches it off.")
    ann_index_threshold: Count = Field(default=50_000, description="Chunks from which an ANN index is built; 0 never.")


class SearchSettings(Section):
    """The search pipeline; each field is an option of one stage."""

    top_k: Positive = Field(default=10, description="Hits returned.")
    profile: str = Field(default="default", description="List of stages that search uses.")
    candidate_multiplier: Positive = Field(default=3, description="Candidates per hit before diversity.")
    max_distance: Annotated[float, Field(ge=0.0, le=2.0)] = Field(
        default=0.9, description="Cosine distance cut-off; 1 disables."
    )
    adaptive_threshold: bool = Field(default=False, description="Widen max_distance until there are enough hits.")
    adaptive_threshold_step: Annotated[float, Field(gt=0.0)] = Field(default=0.2, description="Step of the widening.")
    fusion: Literal["convex", "rrf", "weighted"] = Field(default="convex", description="How rankings become hits.")
    fusion_dense_weight: Fraction = Field(
        default=0.5, description="Weight of meaning in convex fusion, for a query that is like most."
    )
    rrf_k: Positive = Field(default=60, description="Constant of reciprocal rank fusion.")
    mmr_lambda: Fraction = Field(default=0.95, description="Relevance against diversity in MMR; 1 is pure relevance.")
    diversity_max_per_source: Positive = Field(
        default=3, description="Most hits of one document, where others fill the rest."
    )
    join_neighbors: bool = Field(default=False, description="Join hits that follow each other in one document.")
    query_expansion_count: Count = Field(default=3, description="Rewordings asked of the chat model; 0 is off.")
    expansion_skip_threshold: Fraction = Field(
        default=0.8, description="Keyword confidence that makes expansion needless."
    )
    expansion_skip_gap: Fraction = Field(default=0.15, description="Lead of the first keyword hit needed for the skip.")
    expansion_guardrails: bool = Field(default=True, description="Drop rewordings that drift from the question.")
    expansion_similarity_threshold: Fraction = Field(
        default=0.5, description="Least cosine of a rewording with the question."
    )
    graph_expansion_count: Count = Field(
        default=3, description="Related concepts that the profile full searches as well; 0 is off."
    )
    concept_boost: Fraction = Field(
        default=0.0, description="How much more a hit counts that is about all concepts of the query; 0 is off."
    )
    hyde: bool = Field(default=False, description="Search with a hypothetical answer as well.")
    hyde_weight: Fraction = Field(default=0.7, description="Weight of the hypothetical answer.")
    rerank_candidates: Positive = Field(default=20, description="Hits given to the reranker.")
    temporal_filtering: bool = Field(default=True, description="Understand dates such as `last week` in queries.")
    decay_half_life_days: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] = Field(
        default=30.0, description="Age at which a hit counts half, where newer is better; 0 switches it off."
    )


class AnswerSettings(Section):
    """Answers."""

    max_context_sources: Positive = Field(default=5, description="Most chunks given to the chat model.")
    answer_max_tokens: Positive = Field(default=800, description="Longest generated answer, in tokens.")
    system_prompt: str = Field(default="", description="Replaces the built-in system prompt.")
    show_reasoning: bool = Field(default=False, description="Show the reasoning of models that give it.")


class ChatSettings(Section):
    """Conversations. Whether a model can use tools or see images is for you to say: servers rarely tell."""

    chat_reserve_tokens: Positive = Field(
        default=1024, description="Tokens kept free for a reply whose length nothing else limits."
    )
    chat_rewrite: Literal["auto", "rules", "off"] = Field(
        default="auto",
        description="Follow-up questions: written out by the chat model (auto), by rules, or left as they are (off).",
    )
    chat_titles: bool = Field(default=True, description="Have the chat model name new conversations.")
    chat_tools: Literal["off", "read", "write"] = Field(
        default="off",
        description="Tools for the chat model: off, read (search, read notes), write (also keep notes, facts, skills).",
    )
    chat_tool_rounds: Positive = Field(default=5, description="Most rounds of tools in one reply.")
    chat_images: bool = Field(default=False, description="Give attached images to the chat model.")
    compact_at_percent: Annotated[int, Field(ge=0, le=100)] = Field(
        default=50, description="Share of the context from which earlier turns are summarized; 0 never."
    )
    compact_keep_turns: Count = Field(default=2, description="Latest replies that a summary leaves as they are.")
    memory_tokens: Count = Field(default=500, description="Most tokens of facts and skills in a request; 0 for none.")


class ConceptSettings(Section):
    """The graph of concepts. It needs the extra ``graph``; without that, nothing of it is done."""

    concepts: bool = Field(default=True, description="Map concepts at each sync, where the extra graph is installed.")
    concepts_model: str = Field(
        default="auto", description="What finds concepts: auto (spaCy where a model is installed), rules, or a model."
    )


class WikiSettings(Section):
    """The wiki. What a sync may do for it is up to the user, never to a library."""

    wiki: bool = Field(default=False, description="Bring the wiki up to date at the end of each sync.")
    wiki_dir: str = Field(
        default="wiki",
        description="Folder of the pages: a name in the data folder, or ./NAME, ~/NAME or a full path for a visible "
        "one, which is then no part of a collection.",
    )
    wiki_entity_mode: Literal["ner_entities", "none"] = Field(
        default="ner_entities", description="Entities that the chat model is told to write about: those found, or none."
    )
    wiki_ingest_update_cap: Count = Field(default=20, description="Documents that a sync asks the chat model about.")
    wiki_concept_max_chunks_per_page: Positive = Field(default=12, description="Passages that a page is made of.")
    wiki_max_pages: Positive = Field(default=300, description="Pages of quotes, those of the most frequent things.")
    wiki_min_faithfulness: Fraction = Field(
        default=0.3, description="Least cosine of a page with its passages; a lower one is a draft. 0 checks nothing."
    )
    wiki_passage_tokens: Positive = Field(default=3000, description="Most tokens of a document in a request.")
    wiki_reply_tokens: Positive = Field(default=2000, description="Longest reply about a document, in tokens.")

    @field_validator("wiki_dir")
    @classmethod
    def _is_a_folder_of_its_own(cls, value: str) -> str:
        if not value.strip("./\\~ ") or "\0" in value:
            raise ValueError(f"{value!r} cannot be the folder of the wiki: name one of its own, such as ./wiki")
        return value.strip()


class CrawlSettings(Section):
    """Pages of the web. Whom a crawl may ask, and how it shows itself, is up to the user, never to a library."""

    crawl_max_depth: Positive | None = Field(
        default=None, description="Links from the start that a crawl follows if it names no depth; none has no end."
    )
    crawl_max_pages: Positive | None = Field(
        default=None, description="Pages that a crawl keeps if it names no number; none has no end."
    )
    crawl_timeout: Seconds = Field(default=30.0, description="Longest time for one page, in seconds.")
    crawl_max_concurrent: Count = Field(default=0, description="Crawls at the same time; 0 is one per core.")
    crawl_sync_interval: NotNegative = Field(
        default=30.0, description="Seconds between two syncs during a crawl; 0 syncs at its end only."
    )
    crawl_mean_delay: NotNegative = Field(default=0.5, description="Seconds between two requests to a site.")
    crawl_max_delay_range: NotNegative = Field(default=0.5, description="Random seconds on top of each delay.")
    crawl_concurrent_requests: Positive = Field(default=3, description="Pages of one crawl that are under way at once.")
    crawl_retry_on_rate_limit: bool = Field(default=True, description="Try again after status 429 or 503.")
    crawl_retry_base_delay_min: NotNegative = Field(default=1.0, description="Shortest first wait, in seconds.")
    crawl_retry_base_delay_max: NotNegative = Field(default=3.0, description="Longest first wait, in seconds.")
    crawl_retry_max_backoff: Seconds = Field(default=30.0, description="Longest wait before another try, in seconds.")
    crawl_retry_max_attempts: Positive = Field(default=3, description="Tries for one page.")
    crawl_max_page_mb: Positive = Field(default=20, description="Largest answer of a server, unpacked.")
    crawl_robots: bool = Field(default=True, description="Do as robots.txt says.")
    crawl_render: Literal["never", "auto", "always"] = Field(
        default="never", description="Run the scripts of pages: never, auto (where nothing shows without), always."
    )
    crawl_browser: str = Field(default="", description="Chromium that runs scripts; empty looks for one.")
    crawl_fetcher: str = Field(
        default="", description="Fetcher to use, by name; empty is that of a plugin if there is one, else http."
    )
    crawl_user_agent: str = Field(default="", description="What a crawl calls itself; empty is lilbee's own name.")
    crawl_allowed_networks: tuple[str, ...] = Field(
        default=(), description="Addresses inside your network that may be asked all the same (10.0.0.0/8)."
    )

    @field_validator("crawl_max_depth", "crawl_max_pages", mode="before")
    @classmethod
    def _or_none(cls, value: object) -> object:
        return None if isinstance(value, str) and value.strip().lower() in {"", "none", "null", "0"} else value

    @field_validator("crawl_allowed_networks")
    @classmethod
    def _are_networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        from ipaddress import ip_network

        for one in value:
            ip_network(one.strip(), strict=False)
        return value

    @model_validator(mode="after")
    def _delays_fit(self) -> CrawlSettings:
        if self.crawl_retry_base_delay_max < self.crawl_retry_base_delay_min:
            raise ValueError("crawl_retry_base_delay_max must not be smaller than crawl_retry_base_delay_min")
        return self


class FleetSettings(Section):
    """Model servers that lilbee starts by itself, and where they keep their models."""

    models_dir: str = Field(default="", description="Folder of model files; empty is `models` in the user's data.")
    hub_url: str = Field(default="https://huggingface.co", description="Where models are looked for and fetched.")
    hub_token: str = Field(default="", description="Token for models that need one.", json_schema_extra=_SECRET)
    llama_server_path: str = Field(default="", description="The llama-server program; empty looks for one.")
    gguf_parser_path: str = Field(
        default="", description="The gguf-parser program that estimates memory; empty looks for one on PATH."
    )
    placement: str = Field(default="", description="Where each role runs, as JSON; empty lets lilbee plan.")
    allow_http_placement: bool = Field(default=False, description="Let requests over HTTP change the placement.")
    embed_replicas: Count = Field(default=0, description="Embedding servers; 0 is one per card, as far as they fit.")
    vision_replicas: Count = Field(default=0, description="Vision servers; 0 is one per card, as far as they fit.")
    chat_slots: Count = Field(default=0, description="Chat requests served at once; 0 is up to 4, as memory allows.")
    chat_n_ctx_target: Annotated[int, Field(ge=512)] = Field(
        default=8192, description="Context that the chat model should get where num_ctx names none, in tokens."
    )
    kv_cache_type: Literal["f32", "f16", "bf16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0"] = Field(
        default="f16", description="Numbers of the chat model's cache: smaller ones leave room for more context."
    )
    flash_attention: bool = Field(default=True, description="Use flash attention for chat.")
    engine_threads: Count = Field(default=0, description="Processor threads of each model server; 0 is its choice.")
    worker_pool_eager_start: bool = Field(default=False, description="Start the servers of all roles at once.")
    keep_engine_warm: bool = Field(default=False, description="Leave servers running for the next lilbee.")
    engine_idle_ttl_minutes: NotNegative = Field(
        default=5.0, description="Minutes without a request after which a model is unloaded; 0 never does."
    )


class ServerSettings(Section):
    """`lilbee serve`. What it lets in is up to the user, never to a library."""

    requests_per_minute: Count = Field(
        default=6000,
        description="Requests in a minute of one token, or of one address without a token; 0 is no limit.",
    )
    arrival_timeout_s: Seconds = Field(default=30.0, description="Seconds in which a request must have arrived.")
    upload_max_mb: Positive = Field(default=100, description="Largest file that can be uploaded.")
    mcp_tools: tuple[Literal["crawl", "init", "model", "placement", "reset", "wiki"], ...] = Field(
        default=(), description="Tools that agents have over MCP beside the usual ones: crawl, wiki and so on."
    )


class PluginSettings(Section):
    """Third-party parts."""

    plugins_disabled: tuple[str, ...] = Field(default=(), description="Plugins that are never loaded.")
    plugins_strict: bool = Field(default=False, description="Raise on any plugin failure, for CI.")
    search_stages: tuple[str, ...] = Field(default=(), description="Plugin stages that search uses, by name.")


class CollectionSettings(Section):
    """A folder of the library. Globs are gitignore-style, relative to `path`."""

    name: str
    path: str = "."
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    @field_validator("name")
    @classmethod
    def _plain_name(cls, value: str) -> str:
        if not value.strip() or any(sign in value for sign in "/\\\0\n") or value in {".", ".."}:
            raise ValueError(f"{value!r} cannot be a collection's name: use letters, digits, - and _")
        return value


SECTIONS: dict[str, type[Section]] = {
    "models": ModelSettings,
    "chunks": ChunkSettings,
    "ingest": IngestSettings,
    "watch": WatchSettings,
    "store": StoreSettings,
    "search": SearchSettings,
    "answer": AnswerSettings,
    "concepts": ConceptSettings,
    "chat": ChatSettings,
    "wiki": WikiSettings,
    "crawl": CrawlSettings,
    "fleet": FleetSettings,
    "server": ServerSettings,
    "plugins": PluginSettings,
}

GATED = frozenset(
    {
        "openai_base_url",
        "openai_api_key",
        "ollama_base_url",
        "lm_studio_base_url",
        "extract_password",
        "concepts_model",
        "crawl_render",
        "crawl_robots",
        "crawl_browser",
        "crawl_fetcher",
        "crawl_user_agent",
        "crawl_allowed_networks",
        "models_dir",
        "hub_url",
        "hub_token",
        "llama_server_path",
        "gguf_parser_path",
        "placement",
        "allow_http_placement",
        "keep_engine_warm",
        "requests_per_minute",
        "mcp_tools",
        "arrival_timeout_s",
        "upload_max_mb",
        "plugins_disabled",
        "search_stages",
        "plugins_strict",
        "chat_tools",
        "wiki",
        "wiki_dir",
    }
)
"""Keys that could run or leak something: honored from a trusted place only."""


def field_homes() -> dict[str, str]:
    """Return the section of every flat setting name."""
    return {name: section for section, kind in SECTIONS.items() for name in kind.model_fields}


def secret_names() -> frozenset[str]:
    """Return the settings whose value must never be shown."""
    return frozenset(
        name
        for kind in SECTIONS.values()
        for name, info in kind.model_fields.items()
        if info.json_schema_extra == _SECRET
    )


def sections() -> Mapping[str, type[Section]]:
    """Return all sections by name, in order."""
    return SECTIONS


def description_of(name: str) -> str:
    """Return what a setting does, in the words of the reference; nothing for what is no setting."""
    home = field_homes().get(name)
    return "" if home is None else SECTIONS[home].model_fields[name].description or ""
