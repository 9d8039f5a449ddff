import type { Asset, SourceProgress } from "@weir/client";
import { useCallback, useEffect, useRef, useState } from "react";
import type { Uploader } from "./clients.ts";
import { explained } from "./refusals.ts";

export interface Upload {
  /**
   * Uploads a file as a new asset; it ends the upload before. Where the same file was interrupted, by a reload of the page too, it goes on from
   * there. Resolves with the asset when it can be played; rejects as `error` says.
   */
  readonly upload: (file: File, fields?: { readonly name?: string }) => Promise<Asset>;
  readonly phase: "idle" | "waiting" | "uploading" | "processing" | "ready" | "failed";
  /** Share of the phase that is done, from 0 to 1. */
  readonly progress: number;
  /** Once it is ready. */
  readonly asset: Asset | null;
  readonly error: Error | null;
  readonly isPaused: boolean;
  readonly pause: () => void;
  readonly resume: () => void;
  /** Ends it. The server keeps what has arrived for a day. */
  readonly cancel: () => void;
}

type State = Pick<Upload, "phase" | "progress" | "asset" | "error" | "isPaused">;

const IDLE: State = { phase: "idle", progress: 0, asset: null, error: null, isPaused: false };

/** Uploads one file at a time, in chunks (tus 1.0) that a cut connection only delays. It ends with the component. */
export function useUpload(client: Uploader): Upload {
  const [state, setState] = useState(IDLE);
  const running = useRef<{ readonly abort: AbortController; pause(): void; resume(): void } | null>(null);
  const latest = useRef(client);
  latest.current = client;

  const cancel = useCallback(() => {
    running.current?.abort.abort();
    running.current = null;
    setState(IDLE);
  }, []);
  // React runs effects twice while it develops: only an upload of this life of the component ends with it.
  useEffect(
    () => () => {
      running.current?.abort.abort();
      running.current = null;
    },
    [],
  );
  const upload = useCallback(
    async (file: File, { name = file.name }: { readonly name?: string } = {}): Promise<Asset> => {
      running.current?.abort.abort();
      const abort = new AbortController();
      const { signal } = abort;
      const tell = (change: Partial<State>): void => {
        if (!signal.aborted) setState((before) => ({ ...before, ...change }));
      };
      setState({ ...IDLE, phase: "waiting" });
      const onProgress = ([source]: readonly SourceProgress[]): void => {
        if (source && source.phase !== "failed")
          tell({ phase: source.phase, progress: "progress" in source ? source.progress : 0 });
      };
      const creation = latest.current.createAsset({ sources: [{ name, file }] }, { onProgress, signal });
      running.current = { abort, pause: () => creation.pause(), resume: () => creation.resume() };
      try {
        const [asset] = await creation.assets;
        if (!asset) throw new Error("the server made no asset of the file");
        tell({ phase: "ready", progress: 1, asset });
        return asset;
      } catch (thrown) {
        signal.throwIfAborted();
        const error = explained(thrown);
        tell({ phase: "failed", error });
        throw error;
      }
    },
    [],
  );
  const pause = useCallback(() => {
    running.current?.pause();
    setState((before) => (running.current ? { ...before, isPaused: true } : before));
  }, []);
  const resume = useCallback(() => {
    running.current?.resume();
    setState((before) => ({ ...before, isPaused: false }));
  }, []);
  return { ...state, upload, cancel, pause, resume };
}
