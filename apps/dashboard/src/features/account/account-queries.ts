import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { weir } from "../../lib/weir.ts";

export const sessionKey = ["dashboard-session"];

/** Who is signed in; null when nobody is. Asked again only while the server is silent. */
export const sessionQuery = queryOptions({
  queryKey: sessionKey,
  queryFn: ({ signal }) => weir.dashboard.session({ signal }),
  staleTime: Number.POSITIVE_INFINITY,
  refetchInterval: (query) => (query.state.status === "error" ? 3000 : false),
});

/** Where to publish to and to watch from. Changes only with the server's settings. */
export const ingestQuery = queryOptions({
  queryKey: ["ingest"],
  queryFn: async ({ signal }) => (await weir.ingest({ signal }))[0] ?? null,
  staleTime: 60_000,
});

/** Version, settings and nodes. The settings change only with a restart, the nodes by themselves. */
export const serverSettingsQuery = queryOptions({
  queryKey: ["server-settings"],
  queryFn: ({ signal }) => weir.dashboard.settings({ signal }),
  refetchInterval: 10_000,
});

export function useSignIn() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (apiKey: string) => {
      await weir.dashboard.signIn(apiKey.trim());
      return weir.dashboard.session();
    },
    onSuccess: (session) => queries.setQueryData(sessionKey, session),
  });
}

export function useSignOut() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => weir.dashboard.signOut(),
    onSuccess: () => {
      queries.setQueryData(sessionKey, null);
      queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] });
    },
  });
}
