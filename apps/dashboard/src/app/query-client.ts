import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { WeirError } from "@weir/client";
import { sessionKey } from "../features/account/account-queries.ts";
import { reportReach } from "../shared/lib/server-reach.ts";

/** A 401 may be late and about an earlier cookie, so the page asks the server who is signed in. The shell shows the sign-in page when nobody is. */
function onError(error: Error): void {
  if (!(error instanceof WeirError)) return;
  if (error.status === 401) void queryClient.invalidateQueries({ queryKey: sessionKey }, { cancelRefetch: false });
  else reportReach(error.status !== 0);
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError, onSuccess: () => reportReach(true) }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      // The browser's idea of "offline" is about the internet; the server may be on this machine.
      networkMode: "always",
      // Most queries are asked again every few seconds anyway, and pause while the page is hidden.
      retry: false,
      refetchIntervalInBackground: false,
    },
    mutations: { networkMode: "always" },
  },
});
