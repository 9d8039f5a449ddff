import { Button, PasswordInput } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useRouter } from "@tanstack/react-router";
import { WeirError } from "@weir/client";
import { type FormEvent, useEffect, useState } from "react";
import { strings } from "../../strings.ts";
import { sessionQuery, useSignIn } from "./account-queries.ts";
import classes from "./sign-in-page.module.css";

const text = strings.account.signIn;
const route = getRouteApi("/sign-in");

export function SignInPage() {
  const { to } = route.useSearch();
  const session = useQuery(sessionQuery);
  const signIn = useSignIn();
  const [key, setKey] = useState("");
  useDocumentTitle(`${text.submit} · ${strings.app.name}`);

  const router = useRouter();
  const isSignedIn = session.data != null;
  useEffect(() => {
    if (isSignedIn) router.history.replace(ownAddress(to));
  }, [isSignedIn, router, to]);

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    signIn.mutate(key);
  };
  const problem = signIn.error ?? session.error;
  return (
    <main className={classes.page}>
      <form className={classes.form} onSubmit={submit}>
        <img src="/favicon.svg" alt="" width={40} height={40} />
        <h1>{text.title}</h1>
        <PasswordInput
          label={text.key}
          description={text.hint}
          error={problem instanceof WeirError && problem.status === 401 ? text.unknown : problem?.message}
          value={key}
          onChange={(event) => setKey(event.currentTarget.value)}
          autoComplete="current-password"
          size="md"
          required
          withAsterisk={false}
          autoFocus
        />
        <Button type="submit" size="md" loading={signIn.isPending} disabled={key.trim() === ""}>
          {text.submit}
        </Button>
      </form>
    </main>
  );
}

/** Only ever an address of ours: a link to the sign-in page must not lead out of the house. */
function ownAddress(to: string | undefined): string {
  return to && /^\/(?![/\\])/.test(to) ? to : "/streams";
}
