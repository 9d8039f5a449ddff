import { weir } from "../../shared/lib/weir.ts";
import { Uploads } from "./uploads.ts";

/** One instance for the window: uploads continue while the person looks at other pages. */
export const allUploads = new Uploads((sources, options) => weir.createAsset({ sources }, options));

/** Makes the browser ask before it closes the window during an upload. */
window.addEventListener("beforeunload", (event) => {
  const isUploading = allUploads
    .view()
    .uploads.some(({ progress: { phase } }) => phase === "waiting" || phase === "uploading");
  if (isUploading) event.preventDefault();
});
