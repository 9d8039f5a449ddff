const MAX_CHARACTERS = 150;
const FALLBACK = "download";

/**
 * Content-Disposition of a file to save under this name, which is text of a user (RFC 6266, RFC 8187). Path separators and control characters are
 * replaced. Clients that do not read `filename*` get a name in ASCII.
 */
export function attachmentNamed(name: string): string {
  // Whole characters: half of one cannot be encoded.
  const characters = [...name.toWellFormed().replace(UNSAFE, "_")].slice(0, MAX_CHARACTERS);
  const safe = characters.join("").replace(/^[. ]+|[. ]+$/g, "") || FALLBACK;
  const ascii = safe.replace(/[^\x20-\x7e]|["%]/g, "_");
  return `attachment; filename="${ascii}"; filename*=UTF-8''${percentEncoded(safe)}`;
}

/** Control and formatting characters, of which some reverse the text that follows, and what separates folders. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}/\\:*?<>|]/gu;

const percentEncoded = (text: string): string =>
  encodeURIComponent(text).replace(/['()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);
