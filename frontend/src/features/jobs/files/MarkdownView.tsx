import { Typography } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import Markdown from 'react-markdown';
import classes from './files.module.css';

/** Markdown that a run wrote: no HTML of its own, no pictures from elsewhere, links that know nothing of the portal. */
export function MarkdownView({ text }: { text: string }) {
  const { t } = useTranslation();
  return (
    <Typography className={classes.markdown}>
      <Markdown
        skipHtml
        components={{
          a: ({ href, children }) => (
            <a href={href} target="_blank" rel="noopener noreferrer nofollow">
              {children}
            </a>
          ),
          // To fetch it would tell a stranger's server who looks at the run.
          img: ({ alt }) => <span>{t('runpage.preview.pictureLeftOut', { text: alt })}</span>,
        }}
      >
        {text}
      </Markdown>
    </Typography>
  );
}
