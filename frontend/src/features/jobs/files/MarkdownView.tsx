import { Typography } from '@mantine/core';
import type { Root, Table } from 'mdast';
import { useTranslation } from 'react-i18next';
import Markdown from 'react-markdown';
import remarkGfm from 'remark-gfm';
import classes from './files.module.css';

const MAX_COLUMNS = 200;
const MAX_CELLS = 20_000;

/** Cut tables: rows are filled up to their header's columns, so that 16 KiB could ask for millions of cells. */
function limitTables() {
  return (tree: Root) => {
    let left = MAX_CELLS;
    const cut = (table: Table) => {
      const columns = Math.min(table.align?.length ?? 0, MAX_COLUMNS);
      table.align = table.align?.slice(0, columns);
      table.children = table.children.slice(0, Math.max(1, Math.floor(left / columns)));
      left -= table.children.length * columns;
    };
    const walk = (node: Root | Root['children'][number]) => {
      if (node.type === 'table') cut(node);
      else if ('children' in node) for (const child of node.children) walk(child as Root['children'][number]);
    };
    walk(tree);
  };
}

/** Markdown that a run wrote: no HTML of its own, no pictures from elsewhere, links that know nothing of the portal. */
export function MarkdownView({ text }: { text: string }) {
  const { t } = useTranslation();
  return (
    <Typography className={classes.markdown}>
      <Markdown
        skipHtml
        remarkPlugins={[remarkGfm, limitTables]}
        remarkRehypeOptions={{
          footnoteLabel: t('runpage.preview.footnotes'),
          footnoteBackLabel: (index) => t('runpage.preview.footnoteBack', { number: index + 1 }),
        }}
        components={{
          a: ({ href, children, 'aria-label': label, id }) =>
            href?.startsWith('#') ? (
              // Between a footnote and its mark.
              <a href={href} id={id} aria-label={label}>
                {children}
              </a>
            ) : (
              <a href={href} target="_blank" rel="noopener noreferrer nofollow">
                {children}
              </a>
            ),
          // To fetch it would tell a stranger's server who looks at the run.
          img: ({ alt }) => <span>{t('runpage.preview.pictureLeftOut', { text: alt })}</span>,
          // The box of a list of tasks, which cannot be ticked here.
          input: ({ checked }) => <span>{checked ? '☑' : '☐'}</span>,
          table: ({ children }) => (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll region must be reachable by keyboard
            <section className={classes.table} tabIndex={0} aria-label={t('runpage.preview.table')}>
              <table>{children}</table>
            </section>
          ),
        }}
      >
        {text}
      </Markdown>
    </Typography>
  );
}
