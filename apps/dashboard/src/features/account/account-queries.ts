import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import type { LogIn } from "@weir/contract";
import { forgetProject } from "../../shared/lib/chosen-project.ts";
import { reachableAddress } from "../../shared/lib/local-addresses.ts";
import { weir } from "../../shared/lib/weir.ts";

export const sessionKey = ["dashboard-session"];

/** The current sign-in; null without one. The page asks again only while the server does not respond. */
export const sessionQuery = queryOptions({
  queryKey: sessionKey,
  queryFn: ({ signal }) => weir.dashboard.session({ signal }),
  staleTime: Number.POSITIVE_INFINITY,
  refetchInterval: (query) => (query.state.status === "error" ? 3000 : false),
});

/** The addresses to publish to and watch from, as this browser can use them. They change only with the server's settings. */
export const ingestQuery = queryOptions({
  queryKey: ["ingest"],
  queryFn: async ({ signal }) => {
    const [ingest] = await weir.ingest.list({ signal });
    if (!ingest) return null;
    const reach = (address: string): string => reachableAddress(address, window.location);
    const { rtmp, rtmps, srt, srtPassphrase, webrtc } = ingest.ingests;
    return {
      rtmp: reach(rtmp),
      ...(rtmps !== undefined && { rtmps: reach(rtmps) }),
      ...(srt !== undefined && { srt: reach(srt) }),
      ...(srtPassphrase !== undefined && { srtPassphrase }),
      ...(webrtc !== undefined && { whip: reach(webrtc) }),
      playback: reach(ingest.playback),
      origin: reach(ingest.origin),
    };
  },
  staleTime: 60_000,
});

/** The server's version. A new one needs a restart, after which the dashboard is loaded again. */
export const versionQuery = queryOptions({
  queryKey: ["version"],
  queryFn: async ({ signal }) => (await weir.dashboard.about({ signal })).version,
  staleTime: Number.POSITIVE_INFINITY,
});

/** Version, settings and nodes. The settings change only with a restart, the nodes by themselves. */
export const serverSettingsQuery = queryOptions({
  queryKey: ["server-settings"],
  queryFn: ({ signal }) => weir.dashboard.settings({ signal }),
  refetchInterval: 10_000,
});

function useEntrance<Wanted>(enter: (wanted: Wanted) => Promise<void>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (wanted: Wanted) => {
      await enter(wanted);
      return weir.dashboard.session();
    },
    // The secret that was typed is not kept longer than the page that asks for it.
    gcTime: 0,
    onSuccess: async (session) => {
      // The answer to an earlier question is about the cookie before this one.
      await queries.cancelQueries({ queryKey: sessionKey });
      queries.setQueryData(sessionKey, session);
    },
  });
}

export function useSignIn() {
  return useEntrance((apiKey: string) => weir.dashboard.signIn(apiKey.trim()));
}

export function useLogIn() {
  return useEntrance((who: LogIn) => weir.dashboard.logIn(who));
}

export function useSignOut() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => weir.dashboard.signOut(),
    onSuccess: async () => {
      forgetProject();
      await queries.cancelQueries({ queryKey: sessionKey });
      queries.setQueryData(sessionKey, null);
      queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] });
    },
  });
}
