import { docsStrings as text } from "../../shared/strings/docs-strings.ts";
import { fillPath, type Operation, operationAt, type Parameter } from "./openapi-operation.ts";

/** In memory only: it is gone with the page. */
let apiKey = "";
let description: Promise<unknown> | null = null;
const MAX_SHOWN = 200_000;

/** A button at each operation that opens a form for its request. */
export function addTryOuts(root: ParentNode): void {
  for (const line of root.querySelectorAll<HTMLElement>('pre[data-language="http"]')) {
    const [method = "", path = ""] = (line.textContent ?? "").trim().split(" ");
    const button = element("button", { type: "button", className: "try", textContent: text.tryIt });
    button.setAttribute("aria-expanded", "false");
    let form: HTMLElement | null = null;
    button.addEventListener("click", async () => {
      form ??= await openForm(line, method, path);
      const isOpen = button.getAttribute("aria-expanded") === "true";
      form.hidden = isOpen;
      button.setAttribute("aria-expanded", String(!isOpen));
    });
    line.after(button);
    // The next element is the form, once there is one.
  }
}

async function openForm(line: HTMLElement, method: string, path: string): Promise<HTMLElement> {
  description ??= fetch("/api/openapi.json", { credentials: "omit" }).then((answer) => answer.json());
  const operation = operationAt(await description, method, path);
  const form = tryOutForm(operation, { method, path });
  line.nextElementSibling?.after(form);
  return form;
}

function tryOutForm(
  operation: Operation,
  { method, path }: { readonly method: string; readonly path: string },
): HTMLElement {
  const form = element("form", { className: "try-out" });
  const key = operation.takesKey ? field(text.apiKey, element("input", { type: "password", value: apiKey })) : null;
  key?.input.setAttribute("autocomplete", "off");
  key?.input.addEventListener("input", () => {
    apiKey = key.input.value;
  });
  const parameters = operation.parameters.map((parameter) => ({ parameter, ...parameterField(parameter) }));
  const body =
    operation.body === null
      ? null
      : field(
          text.body,
          element("textarea", { value: operation.body, rows: Math.min(16, operation.body.split("\n").length) }),
        );
  const send = element("button", { type: "submit", textContent: text.send });
  const answer = element("div", { className: "answer" });
  answer.setAttribute("aria-live", "polite");
  form.append(...[key, ...parameters, body].flatMap((one) => (one ? [one.label] : [])), send, answer);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    send.disabled = true;
    const values = parameters.map(({ parameter, input }) => ({ ...parameter, value: input.value }));
    const { url, headers } = fillPath(path, values);
    // Never with the dashboard's cookie: the page shows what a program with this key gets.
    const request: RequestInit = { method, credentials: "omit", headers: { accept: "application/json", ...headers } };
    if (operation.takesKey && apiKey !== "")
      request.headers = { ...request.headers, authorization: `Bearer ${apiKey}` };
    if (body) {
      request.body = body.input.value;
      request.headers = { ...request.headers, "content-type": "application/json" };
    }
    await showAnswer(answer, url, request);
    send.disabled = false;
  });
  return form;
}

function parameterField({ name, isRequired, description: about, example }: Parameter) {
  const input = element("input", { value: isRequired ? example : "", placeholder: example, required: isRequired });
  input.setAttribute("autocomplete", "off");
  return field(isRequired ? name : `${name} (${text.optional})`, input, about);
}

async function showAnswer(place: HTMLElement, url: string, request: RequestInit): Promise<void> {
  const begun = performance.now();
  try {
    const answer = await fetch(url, request);
    const content = await answer.text();
    const tookMs = Math.round(performance.now() - begun);
    const id = answer.headers.get("x-request-id");
    const facts = [
      `${answer.status} ${answer.statusText}`.trim(),
      text.took(tookMs),
      ...(id ? [text.requestId(id)] : []),
    ];
    place.replaceChildren(
      element("p", { textContent: facts.join(" · "), className: answer.ok ? "good" : "bad" }),
      ...(content === "" ? [] : [preformatted(pretty(content))]),
    );
  } catch {
    place.replaceChildren(element("p", { textContent: text.noAnswer, className: "bad" }));
  }
}

function preformatted(content: string): HTMLElement {
  const block = element("pre", { textContent: content.slice(0, MAX_SHOWN) });
  block.tabIndex = 0;
  return block;
}

function pretty(content: string): string {
  try {
    return JSON.stringify(JSON.parse(content), null, 2);
  } catch {
    return content;
  }
}

function field<Input extends HTMLElement>(name: string, input: Input, about = "") {
  const label = element("label", {});
  label.append(
    element("span", { textContent: name }),
    input,
    ...(about === "" ? [] : [element("small", { textContent: about.replaceAll("`", "") })]),
  );
  return { label, input };
}

function element<Name extends keyof HTMLElementTagNameMap>(name: Name, fields: object): HTMLElementTagNameMap[Name] {
  return Object.assign(document.createElement(name), fields);
}
