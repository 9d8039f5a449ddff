import { randomInt, randomUUID } from "node:crypto";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const STREAM_KEY = /^[0-9a-z]{4}(-[0-9a-z]{4}){3}$/;
const PLAYBACK_ID = /^[0-9a-z]{16}$/;
const BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz";

export const isId = (text: string): boolean => UUID.test(text);
export const isStreamKey = (text: string): boolean => STREAM_KEY.test(text);
export const isPlaybackId = (text: string): boolean => PLAYBACK_ID.test(text);

export const newId = (): string => randomUUID();

const random36 = (length: number): string => Array.from({ length }, () => BASE36[randomInt(36)]).join("");

/** `xxxx-xxxx-xxxx-xxxx`: the start of the stream's id, then 12 characters with 62 random bits. */
export const newStreamKey = (streamId: string): string =>
  [streamId.slice(0, 4), random36(4), random36(4), random36(4)].join("-");

/** 16 characters that start like the id of the stream or session that it plays. */
export const newPlaybackId = (id: string): string => id.slice(0, 4) + random36(12);
