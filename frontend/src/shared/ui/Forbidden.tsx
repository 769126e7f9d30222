import { type Icon, IconLock } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useCurrentProject } from '../domain/project';
import { EmptyState } from './EmptyState';
import { ForbiddenWays } from './ForbiddenWays';

interface ForbiddenProps {
  /** Which right the page needs. */
  hint: string;
  /** The administrators who can give the right. */
  by?: 'project' | 'installation';
  icon?: Icon;
}

/** In the place of a page that the person may not open: the right that it needs, who gives it, and ways out. */
export function Forbidden({ hint, by = 'project', icon = IconLock }: ForbiddenProps) {
  const { t } = useTranslation();
  const name = useCurrentProject()?.name ?? '';
  const given = t(by === 'project' ? 'errors.givenByProject' : 'errors.givenByInstallation', { name });
  return <EmptyState icon={icon} title={`${hint} ${given}`} action={<ForbiddenWays />} />;
}
