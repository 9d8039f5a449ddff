import { Button, NativeSelect, Textarea, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { AccessTrial, PlaybackPolicy } from "@weir/contract";
import { type FormEvent, useState } from "react";
import { DialogButton } from "../../shared/components/dialog-button.tsx";
import { Note } from "../../shared/components/note.tsx";
import page from "../../shared/components/page.module.css";
import { Panel } from "../../shared/components/panel.tsx";
import { ShowAsCode } from "../../shared/components/show-as-code.tsx";
import { StateLabel } from "../../shared/components/state-label.tsx";
import { lazyPage } from "../../shared/lib/lazy-page.ts";
import { parseOrigins } from "../../shared/lib/origins.ts";
import { weir } from "../../shared/lib/weir.ts";
import { strings } from "../../shared/strings.ts";
import { VideoPlayer } from "../player/video-player.tsx";
import classes from "./try-access-panel.module.css";

const TestTokenDialog = lazyPage(() => import("./test-token-dialog.tsx"), "TestTokenDialog");

const text = strings.viewers.try;

const KINDS = ["jwt", "accessKey", "none"] as const;
type Kind = (typeof KINDS)[number];

/** The credential that viewers of a stream with each policy bring. */
const BROUGHT: Record<PlaybackPolicy["type"], Kind> = { public: "none", jwt: "jwt", webhook: "accessKey" };

interface Props {
  readonly playbackId: string;
  readonly policy: PlaybackPolicy["type"];
  /** The stream is live, so there is something to watch with an accepted credential. */
  readonly isOnAir: boolean;
}

/** Tests a token or key: shows the decision that a viewer would get, and the reason. */
export function TryAccessPanel({ playbackId, policy, isOnAir }: Props) {
  const [kind, setKind] = useState(BROUGHT[policy]);
  const [credential, setCredential] = useState("");
  const [origin, setOrigin] = useState("");
  const [watched, setWatched] = useState<string | null>(null);
  const trial = useMutation({ mutationFn: (wanted: AccessTrial) => weir.access.try(wanted) });
  const { wrong } = parseOrigins(origin);
  const trialOf = (shown: string): AccessTrial => ({
    playbackId,
    ...(kind !== "none" && { [kind]: shown }),
    ...(origin.trim() !== "" && { origin: origin.trim() }),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    trial.mutate(trialOf(credential.trim()));
  };
  // An answer belongs to the values that were sent. Once the person types, the panel forgets it.
  const change = <T,>(set: (value: T) => void) => {
    return (value: T): void => {
      set(value);
      setWatched(null);
      trial.reset();
    };
  };
  return (
    <Panel
      title={text.title}
      hint={text.hint}
      action={
        kind === "jwt" && (
          <DialogButton
            size="compact-sm"
            variant="default"
            label={text.testToken.create}
            dialog={(close) => (
              <TestTokenDialog playbackId={playbackId} onToken={change(setCredential)} onClose={close} />
            )}
          />
        )
      }
    >
      <form className={page.stack} onSubmit={submit}>
        <NativeSelect
          label={text.kind}
          value={kind}
          data={KINDS.map((value) => ({ value, label: text.kinds[value] }))}
          onChange={(event) => change(setKind)(event.currentTarget.value as Kind)}
        />
        {kind !== "none" && (
          <Textarea
            label={text[kind]}
            classNames={{ input: classes.credential ?? "" }}
            rows={3}
            spellCheck={false}
            autoComplete="off"
            value={credential}
            onChange={(event) => change(setCredential)(event.currentTarget.value)}
          />
        )}
        <TextInput
          label={text.origin}
          description={text.originHint}
          placeholder="https://app.example.com"
          error={wrong !== null && strings.access.wrongOrigin(wrong)}
          value={origin}
          onChange={(event) => change(setOrigin)(event.currentTarget.value)}
        />
        <div className={classes.verdict}>
          <Button
            type="submit"
            loading={trial.isPending}
            disabled={wrong !== null || (kind !== "none" && credential.trim() === "")}
          >
            {text.submit}
          </Button>
          {trial.data && (
            <p role="status">
              <StateLabel tone={trial.data.allowed ? "live" : "failure"}>
                {trial.data.allowed ? text.allowed : text.refused}
              </StateLabel>{" "}
              {trial.data.reason}
            </p>
          )}
        </div>
        <ShowAsCode call={(weir) => weir.access.try(trialOf("CREDENTIAL"))} />
        {trial.error && <Note tone="failure">{trial.error.message}</Note>}
      </form>
      {trial.data?.allowed && isOnAir && watched === null && (
        <Button
          variant="default"
          onClick={() =>
            setWatched(`/hls/${playbackId}/index.m3u8?${new URLSearchParams({ [kind]: credential.trim() })}`)
          }
        >
          {text.watch}
        </Button>
      )}
      {watched !== null && <VideoPlayer src={watched} live label={text.label} />}
    </Panel>
  );
}
