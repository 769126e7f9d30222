import Anser from 'anser';
import { memo, type ReactNode } from 'react';
import type { Highlight } from './highlight';
import classes from './log.module.css';
import type { LogLine as Line } from './logStore';

interface Span {
  text: string;
  className?: string;
  color?: string;
}

/** Colours as classes where the theme knows them, else as the RGB value that the program sent. */
function spansOf(line: Line): Span[] {
  if (line.escapes.length === 0) return [{ text: line.plain }];
  let raw = '';
  let from = 0;
  for (const { at, code } of line.escapes) {
    raw += line.plain.slice(from, at) + code;
    from = at;
  }
  raw += line.plain.slice(from);
  return Anser.ansiToJson(raw, { use_classes: true, remove_empty: true }).map((part) => {
    const names = [part.fg && classes[part.fg], part.decoration && classes[part.decoration]].filter(Boolean);
    const color = part.fg === 'ansi-truecolor' && part.fg_truecolor ? `rgb(${part.fg_truecolor})` : undefined;
    return { text: part.content, className: names.join(' ') || undefined, color };
  });
}

/** Cuts a span at the edges of the matches: a match may lie across two colours. */
function cut(span: Span, start: number, matches: [number, number][]): ReactNode[] {
  const end = start + span.text.length;
  const out: ReactNode[] = [];
  let at = start;
  for (const [from, to] of matches) {
    if (to <= at || from >= end) continue;
    if (from > at) out.push(span.text.slice(at - start, from - start));
    const stop = Math.min(to, end);
    out.push(<mark key={from}>{span.text.slice(Math.max(from, at) - start, stop - start)}</mark>);
    at = stop;
  }
  if (at < end) out.push(span.text.slice(at - start));
  return out;
}

export const LogLineText = memo(function LogLineText({ line, highlight }: { line: Line; highlight: Highlight }) {
  const matches = highlight(line.plain);
  let start = 0;
  return spansOf(line).map((span) => {
    const key = start;
    start += span.text.length;
    return (
      <span key={key} className={span.className} style={span.color ? { color: span.color } : undefined}>
        {cut(span, key, matches)}
      </span>
    );
  });
});
