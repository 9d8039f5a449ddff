/** The origin that this script came from; empty where a bundler put it into a page's own script, which then means the origin of the page. */
export const OWN_SERVER = /^https?:/.test(import.meta.url) ? new URL(import.meta.url).origin : "";
