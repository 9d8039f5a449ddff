/** The browser remembers the chosen project under this name. Without a choice it is the project of the sign-in. */
const KEY = "weir.project";
/** Addresses that are about the account or the sign-in, whatever the project. */
const OF_ACCOUNT = /^\/api\/(project|person|asset\/upload|dashboard\/(session|sign-in|log-in|address|settings))(\/|$)/;

export const chosenProject = (): string | null => localStorage.getItem(KEY);

/** Shows another project, from its first page on: nothing that is loaded is about it. */
export function chooseProject(id: string | null): void {
  if (id === null) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, id);
  window.location.assign("/");
}

export function forgetProject(): void {
  localStorage.removeItem(KEY);
}

/** An address of the API, asked for the project. Uploads have their asset in their token. */
export function addressIn(project: string | null, address: string): string {
  const [path = "", query = ""] = address.split("?");
  if (project === null || !path.startsWith("/api/") || OF_ACCOUNT.test(path)) return address;
  const search = new URLSearchParams(query);
  search.set("projectId", project);
  return `${path}?${search}`;
}
