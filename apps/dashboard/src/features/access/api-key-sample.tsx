import { CodeBlock } from "../../shared/components/code-block.tsx";
import { strings } from "../../shared/strings.ts";

const text = strings.access.apiKeys.sample;

/** A first call of the API. With a key, the clipboard gets it and the screen does not. */
export function ApiKeySample({ apiKey }: { readonly apiKey?: string }) {
  const withKey = (key: string): string =>
    `curl ${window.location.origin}/api/stream \\\n  -H "Authorization: Bearer ${key}"`;
  return (
    <CodeBlock
      title={text.curl}
      code={withKey(apiKey ?? text.placeholder)}
      shown={withKey(text.placeholder)}
      what={text.command}
    />
  );
}
