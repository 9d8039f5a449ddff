import type { Dvr, NewStream, NewTargetRef, Profile, StreamSlate } from "@weir/contract";
import { BadRequest } from "../api/index.ts";

/** A target can always name the source itself, so no profile may have that name. */
const SOURCE = "source";
const USER_TAGS_LENGTH = 2048;
const MAX_TARGETS = 100;
const MAX_FRAMES_PER_SECOND = 240;
const SECONDS = /^\d{1,6}(\.\d{1,6})?$/;

export function checkProfiles(profiles: readonly Profile[]): void {
  const names = new Set<string>();
  for (const { name, fps, fpsDen = 1, gop } of profiles) {
    if (name === SOURCE) throw new BadRequest('profile cannot be named "source"');
    if (names.has(name)) throw new BadRequest(`duplicate profile name "${name}"`);
    names.add(name);
    if (fps / fpsDen > MAX_FRAMES_PER_SECOND) {
      throw new BadRequest(`profile "${name}" has more than ${MAX_FRAMES_PER_SECOND} frames per second: lower its fps`);
    }
    if (gop !== undefined && gop !== "intra" && !(SECONDS.test(gop) && Number(gop) > 0)) {
      throw new BadRequest(
        `profile "${name}" has the gop ${JSON.stringify(gop)}: give seconds as text, such as "2.0", or "intra"`,
      );
    }
  }
}

export function checkUserTags(userTags: NewStream["userTags"]): void {
  if (userTags && JSON.stringify(userTags).length > USER_TAGS_LENGTH) {
    throw new BadRequest(`userTags must be at most ${USER_TAGS_LENGTH} characters as JSON`);
  }
}

/** `record` is its value after the request. */
export function checkRecordingSpec(recordingSpec: NewStream["recordingSpec"], record: boolean): void {
  if (recordingSpec && !record) throw new BadRequest("recordingSpec is only supported with record=true");
}

/** As stored: minutes, or 0 for the whole session. */
export const minutesOf = (dvr: NewStream["dvr"]): number | null => (dvr === "session" ? 0 : (dvr ?? null));

/** As stored: null for none. */
export const storedSlate = (slate: NewStream["slate"]): Exclude<StreamSlate, "off"> | null =>
  slate === undefined || slate === "off" ? null : slate;

export const dvrOf = (minutes: number | null): Dvr | null => (minutes === 0 ? "session" : minutes);

/** Checks targets against the profiles that they may name. The store checks whether an `id` exists. */
export function checkTargets(targets: readonly NewTargetRef[], profiles: readonly Profile[]): void {
  if (targets.length > MAX_TARGETS) throw new BadRequest(`a stream has at most ${MAX_TARGETS} multistream targets`);
  const available = [SOURCE, ...profiles.map((profile) => profile.name)];
  const pairs = new Set<string>();
  for (const { profile, id, spec } of targets) {
    if (!available.includes(profile)) {
      throw new BadRequest(
        `multistream target profile not found: "${profile}". available: ${JSON.stringify(available)}`,
      );
    }
    if ((id === undefined) === (spec === undefined)) {
      throw new BadRequest('multistream target must have either an "id" or a "spec"');
    }
    if (id === undefined) continue;
    const pair = `${profile} ${id}`;
    if (pairs.has(pair)) throw new BadRequest("multistream target {id,profile} must be unique");
    pairs.add(pair);
  }
}

/** A customer's own creator id, as it is stored. */
export const creatorValue = (creatorId: NonNullable<NewStream["creatorId"]>): string =>
  typeof creatorId === "string" ? creatorId : creatorId.value;
