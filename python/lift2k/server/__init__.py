"""An image server for folders of JPEG 2000 files: IIIF Image API 3.0 and 2.1, level 2, and a page with a viewer.

    lift2k-server FOLDER                                  # pip install lift2k[server]

    from lift2k.server import create_app
    app = create_app("FOLDER")                            # for any ASGI server

docs/guides/image-server.md in the repository shows the rest.
"""

try:
    from .app import Settings, create_app
    from .parameters import Limits
    from .pictures import Folder, Resources
except ModuleNotFoundError as failure:
    raise ImportError(f"{failure}: the image server needs what pip install 'lift2k[server]' installs") from failure

__all__ = ["Folder", "Limits", "Resources", "Settings", "create_app"]
