import { Tabs } from "@mantine/core";
import { type ClientCall, type RequestSamples, recordCall, requestSamples } from "@weir/client/samples";
import { codeStrings as text } from "../strings/code-strings.ts";
import { CodeBlock } from "./code-block.tsx";
import classes from "./show-as-code.module.css";

const LANGUAGES = ["sh", "ts", "python"] as const satisfies readonly (keyof RequestSamples)[];

/** A call of the client in each language, with the variable `WEIR_KEY` in place of a key. */
export function RequestCode({ call }: { readonly call: ClientCall }) {
  const recorded = recordCall(call, window.location.origin);
  const samples = requestSamples({ ...recorded, needsKey: true, hasAnswer: recorded.method === "POST" }, recorded);
  return (
    <Tabs className={classes.code} defaultValue="sh" keepMounted={false}>
      <Tabs.List aria-label={text.language}>
        {LANGUAGES.map((language) => (
          <Tabs.Tab key={language} value={language}>
            {text.languages[language]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {LANGUAGES.map((language) => (
        <Tabs.Panel key={language} value={language} pt={8}>
          <CodeBlock title={text.key} code={samples[language]} what={text.what} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
