import { useQuery } from "@tanstack/react-query";
import { CodeBlock } from "../../shared/components/code-block.tsx";
import { Panel } from "../../shared/components/panel.tsx";
import { strings } from "../../shared/strings.ts";
import { ingestQuery } from "../account/account-queries.ts";
import { nodeSample } from "./sign-token-code.ts";

const text = strings.access.sample;

/** Sample code that signs a token, for the given playback id if there is one. */
export function TokenSample({ playbackId = text.anyPlaybackId }: { readonly playbackId?: string }) {
  const { data: ingest } = useQuery(ingestQuery);
  return (
    <Panel title={text.title} hint={text.hint}>
      <CodeBlock title={text.node} code={nodeSample(playbackId)} what={text.copy} />
      {ingest && (
        <CodeBlock
          title={text.use}
          code={`${ingest.playback}/${playbackId}/index.m3u8?jwt=${text.token}`}
          what={text.address}
        />
      )}
    </Panel>
  );
}
