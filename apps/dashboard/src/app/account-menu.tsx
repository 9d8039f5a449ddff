import { Button, type MantineColorScheme, NativeSelect, useMantineColorScheme } from "@mantine/core";
import type { DashboardSession } from "@weir/contract";
import { useSignOut } from "../features/account/account-queries.ts";
import { ProjectSelect } from "../features/account/project-select.tsx";
import { strings } from "../strings.ts";
import classes from "./shell.module.css";

const text = strings.app.account;
const SCHEMES = ["auto", "light", "dark"] as const satisfies readonly MantineColorScheme[];

/** At the foot of the rail: the project, the theme, the API description, and signing out. Phones find them under Settings. */
export function AccountMenu({ session }: { readonly session: DashboardSession }) {
  const signOut = useSignOut();
  return (
    <div className={classes.account}>
      <ProjectSelect session={session} />
      <ThemeSelect />
      <a href="/api/openapi.json" target="_blank" rel="noreferrer" className={classes.link}>
        {text.api}
      </a>
      <p className={classes.who} title={session.keyName}>
        {session.keyName}
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
export function ThemeSelect() {
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
