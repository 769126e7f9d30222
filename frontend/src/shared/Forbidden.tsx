import { type Icon, IconLock } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { EmptyState } from './EmptyState';
import { ForbiddenWays } from './ForbiddenWays';
import { useCurrentProject } from './project';

interface ForbiddenProps {
  /** Which right the page needs. */
  hint: string;
  /** The administrators who can give the right. */
  by?: 'project' | 'installation';
  title?: string;
  icon?: Icon;
}

/** In the place of a page that the person may not open: the right that it needs, who gives it, and ways out. */
export function Forbidden({ hint, by = 'project', title, icon = IconLock }: ForbiddenProps) {
  const { t } = useTranslation();
  const name = useCurrentProject()?.name ?? '';
  return (
    <EmptyState
      icon={icon}
      title={title ?? t('errors.forbidden')}
      hint={
        <>
          {hint} {t(by === 'project' ? 'errors.givenByProject' : 'errors.givenByInstallation', { name })}
        </>
      }
      action={<ForbiddenWays />}
    />
  );
}
