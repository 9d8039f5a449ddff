import { Button, type MantineColorScheme, NativeSelect, useMantineColorScheme } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { DashboardSession } from "@weir/contract";
import { useSignOut, versionQuery } from "../features/account/account-queries.ts";
import { ProjectSelect } from "../features/account/project-select.tsx";
import { strings } from "../shared/strings.ts";
import classes from "./shell.module.css";

const text = strings.app.account;
const SCHEMES = ["auto", "light", "dark"] as const satisfies readonly MantineColorScheme[];

/** At the foot of the rail: the project, the theme, the documentation, the version, who is signed in, and signing out. */
export function AccountMenu({ session }: { readonly session: DashboardSession }) {
  const signOut = useSignOut();
  const { data: version } = useQuery(versionQuery);
  const { keyName, personId } = session;
  return (
    <div className={classes.account}>
      <ProjectSelect session={session} />
      <ThemeSelect />
      <p className={classes.links}>
        <a href="/docs" target="_blank" rel="noreferrer" className={classes.link}>
          {text.docs}
        </a>
        <a href="/docs/reference" target="_blank" rel="noreferrer" className={classes.link}>
          {text.api}
        </a>
        {version !== undefined && <span className={classes.who}>{text.version(version)}</span>}
      </p>
      <p className={classes.who} title={personId === undefined ? text.keyHint(keyName) : text.personHint(keyName)}>
        {personId === undefined ? text.key(keyName) : keyName}
      </p>
      <Button
        size="compact-sm"
        variant="default"
        aria-label={text.signOut}
        loading={signOut.isPending}
        onClick={() => signOut.mutate()}
      >
        {text.signOut}
      </Button>
    </div>
  );
}

/** The browser remembers the choice. */
function ThemeSelect() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <NativeSelect
      size="xs"
      aria-label={text.theme}
      value={colorScheme}
      data={SCHEMES.map((value) => ({ value, label: text.themes[value] }))}
      onChange={(event) => setColorScheme(event.currentTarget.value as MantineColorScheme)}
    />
  );
}
