import { VisuallyHidden } from '@mantine/core';
import { IconExternalLink, IconFolderSymlink, IconLink, IconUnlink } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Entry } from '@/api/contract/datasets';
import { visible } from '@/shared/ui/visible';
import classes from './browse.module.css';

type Link = NonNullable<Entry['link']>;

const ICONS = {
  file: IconLink,
  folder: IconFolderSymlink,
  nothing: IconUnlink,
  circle: IconUnlink,
  outside: IconExternalLink,
};

/** Where a link leads, in words. */
function useLinkText(link: Link): string {
  const { t } = useTranslation();
  return t(`item.link.tile.${link.kind}`, { target: visible(link.target) });
}

/** Marks the picture of a file as that of a link to it. */
export function LinkBadge({ link }: { link: Link }) {
  const text = useLinkText(link);
  return (
    <span className={classes.tag} title={text} data-link={link.kind}>
      <IconLink size={12} aria-hidden style={{ verticalAlign: -2 }} />
      <VisuallyHidden>{text}</VisuallyHidden>
    </span>
  );
}

/** A link whose end is no picture: its target in place of one. */
export function LinkTile({ link }: { link: Link }) {
  const text = useLinkText(link);
  const Icon = ICONS[link.kind];
  return (
    <span className={classes.linkTile} title={text} data-link={link.kind}>
      <Icon size={20} stroke={1.4} aria-hidden />
      <VisuallyHidden>{text}</VisuallyHidden>
      <span className={classes.target} aria-hidden>
        {visible(link.target)}
      </span>
    </span>
  );
}
