import { useQuery } from "@tanstack/react-query";
import { CodeBlock } from "../../components/code-block.tsx";
import { Panel } from "../../components/panel.tsx";
import { strings } from "../../strings.ts";
import { ingestQuery } from "../account/account-queries.ts";
import { nodeSample } from "./sign-token-code.ts";
import { signingKeysQuery } from "./signing-key-queries.ts";

const text = strings.access.sample;

/** How to sign a token: with the project's newest working key, for a playback id where one is given. */
export function TokenSample({ playbackId = text.anyPlaybackId }: { readonly playbackId?: string }) {
  const { data: keys } = useQuery(signingKeysQuery);
  const { data: ingest } = useQuery(ingestQuery);
  const publicKey = keys?.find(({ disabled }) => !disabled)?.publicKey ?? text.noKey;
  return (
    <Panel title={text.title} hint={text.hint}>
      <CodeBlock title={text.node} code={nodeSample({ playbackId, publicKey })} what={text.copy} />
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
