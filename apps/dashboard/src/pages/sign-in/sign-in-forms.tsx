import { Button, PasswordInput, TextInput } from "@mantine/core";
import { WeirError } from "@weir/client";
import { type FormEvent, useState } from "react";
import { useLogIn, useSignIn } from "../../features/account/account-queries.ts";
import page from "../../shared/components/page.module.css";
import { strings } from "../../shared/strings.ts";

const text = strings.account.signIn;

interface Props {
  /** Explains why the page could not ask the server for the current sign-in. */
  readonly serverProblem: Error | null;
}

export function KeySignIn({ serverProblem }: Props) {
  const signIn = useSignIn();
  const [key, setKey] = useState("");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    signIn.mutate(key);
  };
  return (
    <form className={page.stack} onSubmit={submit}>
      <PasswordInput
        label={text.key}
        description={text.hint}
        error={problemText(signIn.error ?? serverProblem, text.unknown)}
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
  );
}

export function PersonSignIn({ serverProblem }: Props) {
  const logIn = useLogIn();
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    logIn.mutate({ name: name.trim(), password });
  };
  return (
    <form className={page.stack} onSubmit={submit}>
      <TextInput
        label={text.name}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        size="md"
        required
        withAsterisk={false}
        autoFocus
      />
      <PasswordInput
        label={text.password}
        error={problemText(logIn.error ?? serverProblem, text.wrong)}
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        autoComplete="current-password"
        size="md"
        required
        withAsterisk={false}
      />
      <Button type="submit" size="md" loading={logIn.isPending} disabled={name.trim() === "" || password === ""}>
        {text.submit}
      </Button>
    </form>
  );
}

function problemText(problem: Error | null, unknown: string): string | undefined {
  return problem instanceof WeirError && problem.status === 401 ? unknown : problem?.message;
}
