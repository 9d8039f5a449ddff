export const shareStrings = {
  button: "Share & embed",
  title: "Share and embed",
  gated:
    "Viewers need a signed token or an access key. Give it to the iframe by a message, or to the web component by getToken: addresses end up in histories and logs",
  link: "Watch page",
  qr: "QR code of the watch page",
  samples: "Code for your website",
  code: "code",
  iframe: { name: "iframe", hint: "Paste this into any web page" },
  element: {
    name: "Web component",
    hint: "Weir's player without an iframe. This version never changes; copy the code again after an upgrade",
  },
  hlsJs: { name: "hls.js", hint: "A player of your own with hls.js" },
  react: { name: "React", hint: "A React component (npm install hls.js)" },
} as const;
