import { Button, type ButtonProps } from "@mantine/core";
import { strings } from "../../strings.ts";
import { useTestBroadcast, useTestBroadcastOf } from "./stream-queries.ts";

/** The picture takes a few seconds to come after the server has said yes. */
const START_MS = 8000;

interface Props {
  readonly streamId: string;
  readonly variant?: NonNullable<ButtonProps["variant"]>;
}

export function TestBroadcastButton({ streamId, variant = "filled" }: Props) {
  const send = useTestBroadcast();
  const last = useTestBroadcastOf(streamId);
  const isStarting =
    last?.status === "pending" || (last?.status === "success" && Date.now() - last.submittedAt < START_MS);
  return (
    <Button variant={variant} disabled={isStarting} onClick={() => send.mutate(streamId)}>
      {isStarting ? strings.streams.guide.testStarting : strings.streams.guide.testSend}
    </Button>
  );
}
