import { useMediaQuery } from "@mantine/hooks";
import {
  IconBroadcast,
  IconChartBar,
  IconDots,
  IconHistory,
  IconKey,
  IconLayoutDashboard,
  IconMovie,
  IconSettings,
  IconWebhook,
} from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useLocation, useRouter } from "@tanstack/react-router";
import type { DashboardSession } from "@weir/contract";
import { type ReactNode, Suspense, useDeferredValue, useEffect, useRef } from "react";
import { sessionQuery } from "../features/account/account-queries.ts";
import { Loading } from "../shared/components/loading.tsx";
import { Note } from "../shared/components/note.tsx";
import { Toasts } from "../shared/components/toasts.tsx";
import { preloadPages } from "../shared/lib/lazy-page.ts";
import { absoluteMoment } from "../shared/lib/moments.ts";
import { useSilentSince } from "../shared/lib/server-reach.ts";
import { strings } from "../shared/strings.ts";
import { AccountMenu } from "./account-menu.tsx";
import { ServerAwayPage } from "./fallback-pages.tsx";
import classes from "./shell.module.css";
import { Shortcuts } from "./shortcuts.tsx";

const text = strings.app;
/** The other pages are loaded when this one has settled. */
const PRELOAD_MS = 3000;
const MORE = "more-pages";

/** A phone has room for the first four, and for a button that shows the others. */
const pages = [
  { to: "/", label: text.pages.overview, Icon: IconLayoutDashboard },
  { to: "/streams", label: text.pages.streams, Icon: IconBroadcast },
  { to: "/assets", label: text.pages.assets, Icon: IconMovie },
  { to: "/sessions", label: text.pages.sessions, Icon: IconHistory },
] as const;
const morePages = [
  { to: "/keys", label: text.pages.access, Icon: IconKey },
  { to: "/webhooks", label: text.pages.webhooks, Icon: IconWebhook },
  { to: "/usage", label: text.pages.usage, Icon: IconChartBar },
  { to: "/settings", label: text.pages.settings, Icon: IconSettings },
] as const;

type PageProps = (typeof pages | typeof morePages)[number];

/** The frame of every page: a rail on wide screens, a bar at the bottom on phones. Redirects to the sign-in page where nobody is signed in. */
export function Shell({ children = <Outlet /> }: { readonly children?: ReactNode }) {
  const { data, error } = useQuery(sessionQuery);
  // The first render of the frame and its page is long; in small steps the browser answers meanwhile.
  const session = useDeferredValue(data);
  const silentSince = useSilentSince();

  if (session === undefined) return <ServerAwayPage error={error} />;
  if (session === null) return <ToSignIn />;
  return (
    <div className={classes.shell}>
      <a className={classes.skip} href="#content">
        {text.skip}
      </a>
      <nav className={classes.rail} aria-label={text.navigation}>
        <Link to="/" className={classes.mark} aria-hidden tabIndex={-1}>
          <img src="/favicon.svg" alt="" width={24} height={24} />
          {text.name}
        </Link>
        {pages.map((page) => (
          <PageLink key={page.to} {...page} />
        ))}
        <button type="button" className={`${classes.page} ${classes.moreButton}`} popoverTarget={MORE}>
          <IconDots size={20} stroke={1.6} aria-hidden />
          {text.pages.more}
        </button>
        <MorePages session={session} />
      </nav>
      <main id="content" className={classes.content}>
        {silentSince !== null && <Note tone="warning">{text.silent(absoluteMoment(silentSince))}</Note>}
        <Suspense fallback={<Loading lines={6} />}>
          {children}
          <OtherPages />
        </Suspense>
      </main>
      <Toasts />
      <Shortcuts />
    </div>
  );
}

function PageLink({ to, label, Icon }: PageProps) {
  return (
    <Link to={to} activeOptions={{ exact: to === "/" }} className={classes.page}>
      <Icon size={20} stroke={1.6} aria-hidden />
      {label}
    </Link>
  );
}

/** The other pages, and what is about the person: the lower part of the rail, on a phone a sheet above the bar. */
function MorePages({ session }: { readonly session: DashboardSession }) {
  const sheet = useRef<HTMLDivElement>(null);
  const isPhone = useMediaQuery("(max-width: 48em)", undefined, { getInitialValueInEffect: false });
  const { pathname } = useLocation();
  // A page that was chosen in the sheet closes it.
  useEffect(() => {
    if (pathname && sheet.current?.matches(":popover-open")) sheet.current.hidePopover();
  }, [pathname]);
  return (
    <div ref={sheet} id={MORE} className={classes.more} {...(isPhone && { popover: "auto" })}>
      {morePages.map((page) => (
        <PageLink key={page.to} {...page} />
      ))}
      <AccountMenu session={session} />
    </div>
  );
}

/** Loads the code of the other pages some time after this one is shown: on a slow network they would keep it waiting. */
function OtherPages() {
  useEffect(() => {
    const timer = setTimeout(() => void preloadPages(), PRELOAD_MS);
    return () => clearTimeout(timer);
  }, []);
  return null;
}

/** Redirects to the sign-in page once, with the address to return to. (`<Navigate>` redirects with every render.) */
function ToSignIn() {
  const router = useRouter();
  useEffect(() => {
    router.navigate({ to: "/sign-in", search: { to: router.latestLocation.href }, replace: true });
  }, [router]);
  return null;
}
