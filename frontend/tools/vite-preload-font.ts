import type { Plugin } from 'vite';

/** Preloads the Latin subset of Inter: the first paint then needs no font swap. */
export function preloadFont(): Plugin {
  return {
    name: 'atom-preload-font',
    apply: 'build',
    transformIndexHtml(_html, { bundle }) {
      const font = Object.keys(bundle ?? {}).find((name) => /inter-latin-wght-normal.*\.woff2$/.test(name));
      if (!font) return [];
      const attrs = { rel: 'preload', href: `/${font}`, as: 'font', type: 'font/woff2', crossorigin: '' };
      return [{ tag: 'link', attrs, injectTo: 'head' as const }];
    },
  };
}
