import { Typography } from '@mantine/core';
import Markdown, { defaultUrlTransform } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { GuidelinePicture } from './GuidelinePicture';
import { pictureIdOf } from './guidelinePictures';
import classes from './objects.module.css';

const isOurs = (address: string) => /^\/(?!\/)/.test(address);

/** An address that may stand in the page; pictures of the project have a scheme of their own, and only as pictures. */
const addressOf = (address: string, name: string) =>
  name === 'src' && pictureIdOf(address) !== null ? address : defaultUrlTransform(address);

/** A task's guideline: Markdown with pictures of this server. To fetch others would tell a stranger who labels here. */
export default function Guideline({ text }: { text: string }) {
  return (
    <Typography fz="sm" className={classes.guideline}>
      <Markdown
        skipHtml
        remarkPlugins={[remarkGfm]}
        urlTransform={addressOf}
        components={{
          a: ({ href, children }) => (
            <a href={href} target="_blank" rel="noopener noreferrer nofollow">
              {children}
            </a>
          ),
          img: ({ src, alt }) => {
            const address = typeof src === 'string' ? src : '';
            const picture = pictureIdOf(address);
            if (picture !== null) return <GuidelinePicture id={picture} alt={alt ?? ''} />;
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
