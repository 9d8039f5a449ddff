/** Texts of the door, of the API keys and of the settings. */
export const accountStrings = {
  signIn: {
    title: "Sign in to Weir",
    key: "API key",
    hint: "It was printed once in the terminal, when the server started for the first time.",
    submit: "Sign in",
    unknown: "This server does not know that key. Copy it again, without spaces, from where it was printed.",
  },
  settings: {
    title: "Settings",
    addresses: "Addresses",
    addressesHint: "Where encoders send to and players fetch from.",
    rtmp: "RTMP server",
    hls: "HLS, with a playback id",
    api: "API",
    openapi: "API description (OpenAPI 3.1)",
    signedIn: "Signed in",
    key: (name: string, prefix: string) => `With the API key “${name}” (${prefix}…)`,
    until: "This sign-in ends",
    signOut: "Sign out",
  },
} as const;
