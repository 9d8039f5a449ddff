import { Tabs } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useRouter } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { sessionQuery } from "../../features/account/account-queries.ts";
import page from "../../shared/components/page.module.css";
import { strings } from "../../shared/strings.ts";
import { KeySignIn, PersonSignIn } from "./sign-in-forms.tsx";
import classes from "./sign-in-page.module.css";

const text = strings.account.signIn;
const route = getRouteApi("/sign-in");

/** The browser remembers the last way to sign in under this name. */
const WAY = "weir.sign-in-way";

/** The sign-in page: with an API key, or with a name and a password. */
export function SignInPage() {
  const { to } = route.useSearch();
  const session = useQuery(sessionQuery);
  const [way, setWay] = useState(() => (localStorage.getItem(WAY) === "person" ? "person" : "key"));
  useDocumentTitle(`${text.submit} · ${strings.app.name}`);

  const router = useRouter();
  const isSignedIn = session.data != null;
  useEffect(() => {
    if (isSignedIn) router.history.replace(ownAddress(to));
  }, [isSignedIn, router, to]);

  const take = (wanted: string | null): void => {
    if (wanted === null) return;
    setWay(wanted);
    localStorage.setItem(WAY, wanted);
  };
  return (
    <main className={classes.page}>
      <div className={`${page.stack} ${classes.door}`}>
        <img src="/favicon.svg" alt="" width={40} height={40} />
        <h1>{text.title}</h1>
        <p className="quiet">{text.lead}</p>
        <Tabs value={way} onChange={take} keepMounted={false}>
          <Tabs.List aria-label={text.ways.label} grow>
            <Tabs.Tab value="key">{text.ways.key}</Tabs.Tab>
            <Tabs.Tab value="person">{text.ways.person}</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="key" pt={16}>
            <KeySignIn serverProblem={session.error} />
            <details className={classes.help}>
              <summary>{text.lost}</summary>
              <p className="quiet">{text.lostHelp}</p>
            </details>
          </Tabs.Panel>
          <Tabs.Panel value="person" pt={16}>
            <PersonSignIn serverProblem={session.error} />
            <p className={`quiet ${classes.help}`}>{text.noAccount}</p>
          </Tabs.Panel>
        </Tabs>
        <a href="/docs">{text.docs}</a>
      </div>
    </main>
  );
}

/** Accepts only addresses of this server: a link to the sign-in page must not lead elsewhere. */
function ownAddress(to: string | undefined): string {
  return to && /^\/(?![/\\])/.test(to) ? to : "/";
}
