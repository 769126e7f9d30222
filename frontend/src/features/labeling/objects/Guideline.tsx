import { Typography } from '@mantine/core';
import Markdown from 'react-markdown';
import remarkGfm from 'remark-gfm';
import classes from './objects.module.css';

const isOurs = (address: string) => /^\/(?!\/)/.test(address);

/** A task's guideline: Markdown with pictures of this server. To fetch others would tell a stranger who labels here. */
export default function Guideline({ text }: { text: string }) {
  return (
    <Typography fz="sm" className={classes.guideline}>
      <Markdown
        skipHtml
        remarkPlugins={[remarkGfm]}
        components={{
          a: ({ href, children }) => (
            <a href={href} target="_blank" rel="noopener noreferrer nofollow">
              {children}
            </a>
          ),
          img: ({ src, alt }) => {
            const address = typeof src === 'string' ? src : '';
            if (isOurs(address)) return <img src={address} alt={alt ?? ''} loading="lazy" />;
            return (
              <a href={address} target="_blank" rel="noopener noreferrer nofollow">
                {alt || address}
              </a>
            );
          },
        }}
      >
        {text}
      </Markdown>
    </Typography>
  );
}
