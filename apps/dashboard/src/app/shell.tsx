import { IconBroadcast, IconHistory, IconKey, IconSettings, IconWebhook } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { Note } from "../components/note.tsx";
import { sessionQuery } from "../features/account/account-queries.ts";
import { absoluteMoment } from "../lib/moments.ts";
import { useSilentSince } from "../lib/server-reach.ts";
import { strings } from "../strings.ts";
import { ServerAwayPage } from "./fallback-pages.tsx";
import classes from "./shell.module.css";

const text = strings.app;

const rooms = [
  { to: "/streams", label: text.rooms.streams, Icon: IconBroadcast },
  { to: "/sessions", label: text.rooms.sessions, Icon: IconHistory },
  { to: "/access", label: text.rooms.access, Icon: IconKey },
  { to: "/webhooks", label: text.rooms.webhooks, Icon: IconWebhook },
  { to: "/settings", label: text.rooms.settings, Icon: IconSettings },
] as const;

/** The frame of every room: a rail on wide screens, a bar at the bottom on phones. Sends whoever is not signed in to the door. */
export function Shell() {
  const session = useQuery(sessionQuery);
  const silentSince = useSilentSince();

  if (session.data === undefined) return <ServerAwayPage error={session.error} />;
  if (session.data === null) return <ToSignIn />;
  return (
    <div className={classes.shell}>
      <a className={classes.skip} href="#content">
        {text.skip}
      </a>
      <nav className={classes.rail} aria-label={text.navigation}>
        <Link to="/streams" className={classes.mark} aria-hidden tabIndex={-1}>
          <img src="/favicon.svg" alt="" width={24} height={24} />
          {text.name}
        </Link>
        {rooms.map(({ to, label, Icon }) => (
          <Link key={to} to={to} className={classes.room}>
            <Icon size={20} stroke={1.6} aria-hidden />
            {label}
          </Link>
        ))}
      </nav>
      <main id="content" className={classes.content}>
        {silentSince !== null && <Note tone="warning">{text.silent(absoluteMoment(silentSince))}</Note>}
        <Outlet />
      </main>
    </div>
  );
}

/** Goes to the door once, and remembers where from. (`<Navigate>` goes again with every render, so also while it is on its way.) */
function ToSignIn() {
  const router = useRouter();
  useEffect(() => {
    router.navigate({ to: "/sign-in", search: { to: router.latestLocation.href }, replace: true });
  }, [router]);
  return null;
}
