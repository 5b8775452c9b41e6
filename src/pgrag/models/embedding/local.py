"""Models that run in this process and embed each text separately or each page as a whole."""

from collections.abc import Sequence

from pgrag.models.embedding import late_chunking
from pgrag.models.embedding.embedder import Vectors
from pgrag.models.embedding.local_model import LocalModel

#: Suffix of a model's name for vectors pooled from whole pages.
LATE = "+late"


class LocalEmbedder:
    """Embeds each text separately; a prefix of None is the model's own. Every method raises
    `EmbeddingError` if the model fails.
    """

    def __init__(
        self,
        model: LocalModel,
        *,
        query_prefix: str | None = None,
        document_prefix: str | None = None,
    ) -> None:
        self._model = model
        self._query_prefix = query_prefix
        self._document_prefix = document_prefix

    @property
    def name(self) -> str:
        """The configured name: of a model on the hub, or of a folder."""
        return self._model.name

    @property
    def dimensions(self) -> int:
        """The number of dimensions of every vector."""
        return self._model.dimensions

    @property
    def query_prefix(self) -> str:
        """The text put before queries."""
        if self._query_prefix is None:
            self._query_prefix = self._model.prompt("query")
        return self._query_prefix

    @property
    def document_prefix(self) -> str:
        """The text put before documents."""
        if self._document_prefix is None:
            self._document_prefix = self._model.prompt("document", "passage")
        return self._document_prefix

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`."""
        return self._model.encode(texts, self.document_prefix)

    def embed_query(self, text: str) -> Vectors:
        """See `Embedder`."""
        vector: Vectors = self._model.encode([text], self.query_prefix)[0]
        return vector


class LateEmbedder(LocalEmbedder):
    """Embeds the texts of a page together; see `late_chunking`. Others are embedded separately."""

    @property
    def name(self) -> str:
        """The model's name with a suffix, which keeps its vectors apart in searches."""
        return self._model.name + LATE

    @property
    def dimensions(self) -> int:
        """The number of dimensions; raises `EmbeddingError` unless the model uses mean pooling."""
        self._model.require_mean_pooling()
        return self._model.dimensions

    def embed_pages(self, pages: Sequence[Sequence[str]]) -> list[Vectors]:
        """See `PageEmbedder`."""
        self._model.require_mean_pooling()
        return late_chunking.embed_pages(self._model, pages, prefix=self.document_prefix)
