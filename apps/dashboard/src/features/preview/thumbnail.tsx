import { useQuery } from "@tanstack/react-query";
import type { PlaybackPolicy } from "@weir/contract";
import { type ReactNode, useEffect, useState } from "react";
import { ownerTokenQuery } from "./owner-preview.ts";
import classes from "./thumbnail.module.css";

/** A server that has many pictures to make refuses some, and has them a moment later. */
const AGAIN_AFTER_MS = [3_000, 15_000];

interface Props {
  /** Path of the picture on this server; null where there is none yet. */
  readonly path: string | null;
  readonly playbackId: string;
  /** The policy of the video, where it is known; without it, the server says by a refusal that the video is gated. */
  readonly policy?: PlaybackPolicy | null | undefined;
  /** Stands in its place where there is no picture. */
  readonly children: ReactNode;
}

/** A small picture of a video. Gated content refuses it at first, and then gives it to its owner. */
export function Thumbnail({ path, playbackId, policy, children }: Props) {
  const first = (policy?.type ?? "public") === "public" ? null : "plain";
  const [refused, setRefused] = useState<"plain" | "owner" | null>(first);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    const againMs = AGAIN_AFTER_MS[tries];
    if (refused !== "owner" || againMs === undefined) return;
    const timer = setTimeout(() => {
      setTries(tries + 1);
      setRefused(first);
    }, againMs);
    return () => clearTimeout(timer);
  }, [refused, tries, first]);
  const { data } = useQuery({ ...ownerTokenQuery(playbackId), enabled: path !== null && refused === "plain" });
  const address = path !== null && refused !== "owner" ? addressOf(path, refused === null ? null : data?.token) : null;
  return (
    <span className={classes.thumbnail} aria-hidden>
      {address === null ? (
        children
      ) : (
        <img
          key={refused}
          src={address}
          alt=""
          loading="lazy"
          onError={() => setRefused(refused === null ? "plain" : "owner")}
        />
      )}
    </span>
  );
}

/** The address with the owner's token where it needs one; null until the token has arrived. */
function addressOf(path: string, token: string | null | undefined): string | null {
  if (token === null) return path;
  return token === undefined ? null : `${path}${path.includes("?") ? "&" : "?"}jwt=${token}`;
}

/** Path of a small picture from the middle of a recording or asset. */
export const thumbnailOf = (playbackId: string, width: 160 | 640 = 160): string =>
  `/asset/hls/${playbackId}/thumbnail.jpg?width=${width}`;
