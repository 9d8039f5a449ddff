const SEGMENT = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/;
const MAX_SEGMENTS = 12;

/** The names between the slashes of a key. Throws for an invalid key: the server builds all keys, and none leads out of the store. */
export function segmentsOfKey(key: string): readonly string[] {
  if (!isKey(key)) throw new Error(`${JSON.stringify(key.slice(0, 200))} is not a key of an object`);
  return key.split("/");
}

/** The same for a prefix, which ends with a slash. */
export function segmentsOfPrefix(prefix: string): readonly string[] {
  if (!prefix.endsWith("/"))
    throw new Error(`${JSON.stringify(prefix.slice(0, 200))} is not a prefix of keys: it ends with a slash`);
  return segmentsOfKey(prefix.slice(0, -1));
}

/** Whether an object may have this name. Whatever else lies in a store is not Weir's. */
export function isKey(key: string): boolean {
  const segments = key.split("/");
  const isOurs = segments[0] === "v1" && segments.length > 1 && segments.length <= MAX_SEGMENTS;
  return isOurs && segments.every((segment) => SEGMENT.test(segment));
}
