import { weir } from "../../lib/weir.ts";
import { Uploads } from "./uploads.ts";

/** One for the window: uploads go on while other pages are looked at. */
export const allUploads = new Uploads((sources, options) => weir.createAsset({ sources }, options));

/** Asks before the window closes while a file is on its way. */
window.addEventListener("beforeunload", (event) => {
  const isUploading = allUploads
    .view()
    .uploads.some(({ progress: { phase } }) => phase === "waiting" || phase === "uploading");
  if (isUploading) event.preventDefault();
});
