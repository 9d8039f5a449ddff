import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { streamPageSearch } from "../features/streams/stream-page-search.ts";
import { streamSearch, textOf } from "../features/streams/stream-search.ts";
import { StreamsPage } from "../features/streams/streams-page.tsx";
import { BrokenPage, MissingPage } from "./fallback-pages.tsx";
import { Shell } from "./shell.tsx";

type Search = Record<string, unknown>;

const text = (value: unknown): string | undefined => textOf(value) || undefined;

/** Leaves out what is not set, so that addresses stay short. */
function set<T extends Record<string, unknown>>(search: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as never;
}

const root = createRootRoute();

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  component: lazyRouteComponent(() => import("../features/account/sign-in-page.tsx"), "SignInPage"),
  validateSearch: (search: Search) => set({ to: text(search.to) }),
});

/** All pages that need a sign-in, which the shell checks. Each but the first is loaded when it is opened. */
const app = createRoute({ getParentRoute: () => root, id: "app", component: Shell });

const home = createRoute({
  getParentRoute: () => app,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/streams", replace: true });
  },
});

const streams = createRoute({
  getParentRoute: () => app,
  path: "/streams",
  component: StreamsPage,
  validateSearch: streamSearch,
});

const stream = createRoute({
  getParentRoute: () => app,
  path: "/streams/$streamId",
  component: lazyRouteComponent(() => import("../features/streams/stream-page.tsx"), "StreamPage"),
  // Another stream is another page: no state of the last one's player, dialogs or lists may be left.
  remountDeps: ({ params }) => params,
  validateSearch: streamPageSearch,
});

const sessions = createRoute({
  getParentRoute: () => app,
  path: "/sessions",
  component: lazyRouteComponent(() => import("../features/sessions/sessions-page.tsx"), "SessionsPage"),
  validateSearch: (search: Search) => set({ cursor: text(search.cursor), play: text(search.play) }),
});

const access = createRoute({
  getParentRoute: () => app,
  path: "/access",
  component: lazyRouteComponent(() => import("../features/access/access-page.tsx"), "AccessPage"),
  validateSearch: (search: Search) =>
    set({ tab: search.tab === "signing" ? ("signing" as const) : undefined, cursor: text(search.cursor) }),
});

const webhooks = createRoute({
  getParentRoute: () => app,
  path: "/webhooks",
  component: lazyRouteComponent(() => import("../features/webhooks/webhooks-page.tsx"), "WebhooksPage"),
  validateSearch: (search: Search) => set({ cursor: text(search.cursor) }),
});

const webhook = createRoute({
  getParentRoute: () => app,
  path: "/webhooks/$webhookId",
  component: lazyRouteComponent(() => import("../features/webhooks/webhook-page.tsx"), "WebhookPage"),
  remountDeps: ({ params }) => params,
  validateSearch: (search: Search) =>
    set({ failed: search.failed === true ? (true as const) : undefined, cursor: text(search.cursor) }),
});

const settings = createRoute({
  getParentRoute: () => app,
  path: "/settings",
  component: lazyRouteComponent(() => import("../features/account/settings-page.tsx"), "SettingsPage"),
});

export const router = createRouter({
  routeTree: root.addChildren([
    signIn,
    app.addChildren([home, streams, stream, sessions, access, webhooks, webhook, settings]),
  ]),
  defaultNotFoundComponent: MissingPage,
  defaultErrorComponent: BrokenPage,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
