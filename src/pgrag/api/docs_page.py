"""The page of the routes at /docs: Swagger UI from this service alone, without a script in line."""

from fastapi import APIRouter, Response

router = APIRouter(include_in_schema=False)

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
# Relative addresses also hold below the path of a proxy.
_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>pgrag</title>
<link rel="stylesheet" href="assets/swagger-ui.css">
<link rel="icon" href="assets/favicon.png">
</head>
<body>
<div id="swagger-ui"></div>
<script src="assets/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
"""
# Without `validatorUrl` the page would send the document's address to a validator elsewhere.
_START = """\
SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#swagger-ui",
  layout: "BaseLayout",
  deepLinking: true,
  showExtensions: true,
  showCommonExtensions: true,
  validatorUrl: null,
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIBundle.SwaggerUIStandalonePreset],
});
"""


@router.get("/docs")
def page() -> Response:
    """The page."""
    return Response(_PAGE, media_type="text/html", headers={"Content-Security-Policy": _POLICY})


@router.get("/docs/start.js")
def start() -> Response:
    """The script that shows the OpenAPI document in the page."""
    return Response(_START, media_type="text/javascript")
