import { TextInput } from "@mantine/core";
import type { EffectiveSetting } from "@weir/contract";
import { type ReactNode, useState } from "react";
import { strings } from "../../shared/strings.ts";
import classes from "./settings-list.module.css";

const text = strings.account.settings;

/** The changed settings. The others stay folded until the user searches or opens them. */
export function SettingsList({ settings }: { readonly settings: readonly EffectiveSetting[] }) {
  const [words, setWords] = useState("");
  const wanted = words.trim().toLowerCase();
  const found = settings.filter(({ variable, about }) => `${variable} ${about}`.toLowerCase().includes(wanted));
  const changed = found.filter(({ isDefault }) => !isDefault);
  const unchanged = found.filter(({ isDefault }) => isDefault);
  return (
    <>
      <search>
        <TextInput
          type="search"
          aria-label={text.findSetting}
          placeholder={text.findSetting}
          value={words}
          onChange={(event) => setWords(event.currentTarget.value)}
        />
      </search>
      {changed.length + unchanged.length === 0 && <p className="quiet">{text.noSetting}</p>}
      {changed.length > 0 && (
        <section>
          <h3 className={classes.name}>{text.changed(changed.length)}</h3>
          <Settings settings={changed} />
        </section>
      )}
      {unchanged.length > 0 && (
        // A search opens it; a person may close it again.
        <details key={String(wanted !== "")} open={wanted !== ""}>
          <summary className={classes.name}>{text.unchanged(unchanged.length)}</summary>
          <Settings settings={unchanged} />
        </details>
      )}
    </>
  );
}

function Settings({ settings }: { readonly settings: readonly EffectiveSetting[] }) {
  return (
    <dl>
      {settings.map((setting) => (
        <Setting key={setting.variable} setting={setting} />
      ))}
    </dl>
  );
}

function Setting({ setting: { variable, about, value, isDefault } }: { readonly setting: EffectiveSetting }) {
  return (
    <div className={classes.setting} data-changed={!isDefault}>
      <dt>
        <code>{variable}</code>
        <p className="quiet">{withCode(about)}</p>
      </dt>
      <dd>
        {value === null ? (
          <span className="quiet">{isDefault ? text.unset : strings.actions.off}</span>
        ) : value === "[secret]" ? (
          text.secret
        ) : (
          <code>{value}</code>
        )}
      </dd>
    </div>
  );
}

/** The descriptions are written for documents, with backticks around code. */
function withCode(about: string): ReactNode[] {
  return about.split("`").map((part, i) => (i % 2 === 1 ? <code key={part}>{part}</code> : part));
}
