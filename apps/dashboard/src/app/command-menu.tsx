import { Modal, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { type KeyboardEvent, useState } from "react";
import { weir } from "../shared/lib/weir.ts";
import { strings } from "../shared/strings.ts";
import classes from "./command-menu.module.css";
import { type Command, matching, pageCommands } from "./commands.ts";

const text = strings.app.commands;
const MAX_STREAMS = 8;

/** Finds pages and streams by a few letters of their names. Arrow keys choose, Enter opens. */
export default function CommandMenu({ onClose }: { readonly onClose: () => void }) {
  const [words, setWords] = useState("");
  const [index, setIndex] = useState(0);
  const [name] = useDebouncedValue(words.trim(), 150);
  const router = useRouter();
  const streams = useQuery({
    queryKey: ["command-streams", name],
    queryFn: ({ signal }) => weir.streams.list({ ...(name && { name }), limit: MAX_STREAMS, signal }),
  });
  const found: Command[] = (streams.data?.items ?? []).map((stream) => ({
    label: stream.name,
    kind: text.stream,
    href: `/streams/${stream.id}`,
  }));
  const commands = [...matching(pageCommands, words), ...found];
  const chosen = Math.min(index, commands.length - 1);

  const run = (command: Command | undefined): void => {
    if (!command) return;
    onClose();
    if (command.isFile) window.open(command.href, "_blank", "noreferrer");
    else router.history.push(command.href);
  };
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setIndex((chosen + step + commands.length) % Math.max(1, commands.length));
    else if (event.key === "Enter") run(commands[chosen]);
    else return;
    event.preventDefault();
  };

  return (
    <Modal opened onClose={onClose} title={text.title} yOffset="10dvh" centered={false}>
      <TextInput
        type="search"
        aria-label={text.title}
        placeholder={text.placeholder}
        role="combobox"
        aria-expanded
        aria-controls="commands"
        aria-activedescendant={chosen >= 0 ? `command-${chosen}` : undefined}
        value={words}
        onChange={(event) => {
          setWords(event.currentTarget.value);
          setIndex(0);
        }}
        onKeyDown={onKey}
        data-autofocus
      />
      <div id="commands" role="listbox" aria-label={text.title} className={classes.list}>
        {commands.map((command, at) => (
          <div
            key={command.href}
            id={`command-${at}`}
            role="option"
            tabIndex={-1}
            aria-selected={at === chosen}
            className={classes.command}
            onMouseMove={() => setIndex(at)}
            onClick={() => run(command)}
            onKeyDown={onKey}
          >
            <span>{command.label}</span>
            <span className="quiet">{command.kind}</span>
          </div>
        ))}
        {commands.length === 0 && !streams.isPending && <p className="quiet">{text.none}</p>}
      </div>
    </Modal>
  );
}
