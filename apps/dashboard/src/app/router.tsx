import { createRootRoute, createRoute, createRouter, redirect } from "@tanstack/react-router";
import { assetSearch } from "../features/assets/asset-search.ts";
import { sessionSearch } from "../features/sessions/session-search.ts";
import { streamSearch } from "../features/streams/stream-search.ts";
import { streamPageSearch } from "../pages/stream/stream-page-search.ts";
import { wallSearch } from "../pages/wall/wall-search.ts";
import { lazyPage } from "../shared/lib/lazy-page.ts";
import { textOf } from "../shared/lib/search-text.ts";
import { BrokenPage, MissingPage } from "./fallback-pages.tsx";
import { Shell } from "./shell.tsx";

type Search = Record<string, unknown>;

const text = (value: unknown): string | undefined => textOf(value) || undefined;

/** Leaves unset values out, so that addresses stay short. */
function set<T extends Record<string, unknown>>(search: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as never;
}

const root = createRootRoute();

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  component: lazyPage(() => import("../pages/sign-in/sign-in-page.tsx"), "SignInPage"),
  validateSearch: (search: Search) => set({ to: text(search.to) }),
});

/** All pages that need a sign-in, which the shell checks. */
const app = createRoute({ getParentRoute: () => root, id: "app", component: Shell });

const home = createRoute({
  getParentRoute: () => app,
  path: "/",
  component: lazyPage(() => import("../pages/overview/overview-page.tsx"), "OverviewPage"),
});

const streams = createRoute({
  getParentRoute: () => app,
  path: "/streams",
  component: lazyPage(() => import("../pages/streams/streams-page.tsx"), "StreamsPage"),
  validateSearch: streamSearch,
});

const wall = createRoute({
  getParentRoute: () => app,
  path: "/streams/wall",
  component: lazyPage(() => import("../pages/wall/wall-page.tsx"), "WallPage"),
  validateSearch: wallSearch,
});

const stream = createRoute({
  getParentRoute: () => app,
  path: "/streams/$streamId",
  component: lazyPage(() => import("../pages/stream/stream-page.tsx"), "StreamPage"),
  // Another stream is another page: no state of the last one's player, dialogs or lists may be left.
  remountDeps: ({ params }) => params,
  validateSearch: streamPageSearch,
});

const broadcast = createRoute({
  getParentRoute: () => app,
  path: "/streams/$streamId/broadcast",
  component: lazyPage(() => import("../pages/broadcast/broadcast-page.tsx"), "BroadcastPage"),
  remountDeps: ({ params }) => params,
});

const assets = createRoute({
  getParentRoute: () => app,
  path: "/assets",
  component: lazyPage(() => import("../pages/assets/assets-page.tsx"), "AssetsPage"),
  validateSearch: assetSearch,
});

const asset = createRoute({
  getParentRoute: () => app,
  path: "/assets/$assetId",
  component: lazyPage(() => import("../pages/assets/asset-page.tsx"), "AssetPage"),
  remountDeps: ({ params }) => params,
});

const sessions = createRoute({
  getParentRoute: () => app,
  path: "/sessions",
  component: lazyPage(() => import("../pages/sessions/sessions-page.tsx"), "SessionsPage"),
  validateSearch: sessionSearch,
});

const session = createRoute({
  getParentRoute: () => app,
  path: "/sessions/$sessionId",
  component: lazyPage(() => import("../pages/sessions/session-page.tsx"), "SessionPage"),
  remountDeps: ({ params }) => params,
});

/** The address of the Keys page in earlier versions. */
const oldKeys = createRoute({
  getParentRoute: () => app,
  path: "/access",
  beforeLoad: ({ search }) => {
    throw redirect({ to: "/keys", search, replace: true });
  },
});

const keys = createRoute({
  getParentRoute: () => app,
  path: "/keys",
  component: lazyPage(() => import("../pages/access/access-page.tsx"), "AccessPage"),
  validateSearch: (search: Search) =>
    set({ tab: search.tab === "signing" ? ("signing" as const) : undefined, cursor: text(search.cursor) }),
});

const webhooks = createRoute({
  getParentRoute: () => app,
  path: "/webhooks",
  component: lazyPage(() => import("../pages/webhooks/webhooks-page.tsx"), "WebhooksPage"),
  validateSearch: (search: Search) => set({ cursor: text(search.cursor) }),
});

const webhook = createRoute({
  getParentRoute: () => app,
  path: "/webhooks/$webhookId",
  component: lazyPage(() => import("../pages/webhooks/webhook-page.tsx"), "WebhookPage"),
  remountDeps: ({ params }) => params,
  validateSearch: (search: Search) =>
    set({
      failed: search.failed === true ? (true as const) : undefined,
      event: text(search.event),
      cursor: text(search.cursor),
    }),
});

const usage = createRoute({
  getParentRoute: () => app,
  path: "/usage",
  component: lazyPage(() => import("../pages/usage/usage-page.tsx"), "UsagePage"),
});

const settings = createRoute({
  getParentRoute: () => app,
  path: "/settings",
  component: lazyPage(() => import("../pages/settings/settings-page.tsx"), "SettingsPage"),
});

export const router = createRouter({
  routeTree: root.addChildren([
    signIn,
    app.addChildren([
      home,
      streams,
      wall,
      stream,
      broadcast,
      assets,
      asset,
      sessions,
      session,
      keys,
      oldKeys,
      webhooks,
      webhook,
      usage,
      settings,
    ]),
  ]),
  defaultNotFoundComponent: () => (
    <Shell>
      <MissingPage />
    </Shell>
  ),
  defaultErrorComponent: BrokenPage,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
