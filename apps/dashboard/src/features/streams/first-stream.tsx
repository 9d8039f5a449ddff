import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { NewStream } from "@weir/contract";
import { Panel } from "../../shared/components/panel.tsx";
import { strings } from "../../shared/strings.ts";
import { ingestQuery } from "../account/account-queries.ts";
import classes from "./first-stream.module.css";
import { PublishGuide } from "./publish-guide.tsx";
import { StreamForm } from "./stream-form.tsx";
import { useCreateStream, useTestBroadcast } from "./stream-queries.ts";

const text = strings.streams.first;

/** The Streams page before there is a stream: three steps to a picture. */
export function FirstStream() {
  const ingest = useQuery(ingestQuery);
  const create = useCreateStream();
  const test = useTestBroadcast();
  const navigate = useNavigate();
  const start = (stream: NewStream, withTest: boolean): void =>
    create.mutate(stream, {
      onSuccess: ({ id }) => {
        if (withTest) test.mutate(id);
        navigate({ to: "/streams/$streamId", params: { streamId: id } });
      },
    });
  const testButton = (
    <Button loading={create.isPending} onClick={() => start({ name: text.testName, record: true }, true)}>
      {text.test}
    </Button>
  );
  return (
    <div className={classes.page}>
      <header className={classes.header}>
        <h1>{text.title}</h1>
        <p className="quiet">{text.lead}</p>
        {testButton}
        <p className="quiet">{text.testHint}</p>
      </header>
      <ol className={classes.steps}>
        <li>
          <Panel title={text.create}>
            <StreamForm busy={create.isPending} error={create.error} onSubmit={(stream) => start(stream, false)} />
          </Panel>
        </li>
        <li>
          <Panel title={text.publish} hint={text.publishHint}>
            {ingest.data && <PublishGuide addresses={ingest.data} streamKey={null} testBroadcast={testButton} />}
          </Panel>
        </li>
        <li>
          <Panel title={text.watch} hint={text.watchHint} />
        </li>
      </ol>
    </div>
  );
}
