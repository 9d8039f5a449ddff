import { BadRequest, type RawQuery, textOf } from "../api/index.ts";
import { isId } from "../ids.ts";
import { assetSubject, streamSubject } from "../subject.ts";
import { DIMENSIONS, type Dimension, type ViewsOf } from "./view-store.ts";

/** Selects whose views to count. Throws `BadRequest` for an invalid id. */
export function parseViewsOf(query: RawQuery): ViewsOf {
  const [streamId, assetId] = [textOf(query.streamId), textOf(query.assetId)];
  for (const [name, id] of Object.entries({ streamId, assetId }))
    if (id !== undefined && !isId(id)) throw new BadRequest(`${name} must be the id of a record, such as 0d2f3c5e-…`);
  const subjects = [
    ...(streamId === undefined ? [] : [streamSubject(streamId)]),
    ...(assetId === undefined ? [] : [assetSubject(assetId)]),
  ];
  return { playbackId: textOf(query.playbackId), subjects, creatorId: textOf(query.creatorId) };
}

/** `breakdownBy`, `breakdownBy[]`, repeated or comma-separated. Throws `BadRequest` for unknown names. */
export function parseDimensions(query: RawQuery): Dimension[] {
  const given = [query.breakdownBy, query["breakdownBy[]"]].flat().filter((value) => value !== undefined);
  const names = new Set(given.flatMap((value) => String(value).split(",")).map((name) => name.trim()));
  return [...names].map((name) => {
    const known = DIMENSIONS.find((dimension) => dimension === name);
    if (!known) throw new BadRequest(`breakdownBy takes ${DIMENSIONS.join(", ")}`);
    return known;
  });
}
