import { useTranslation } from 'react-i18next';
import { AnchorLink } from '@/shared/ui/links';

/** The way back to the list of tasks. */
export function ToTasks() {
  const { t } = useTranslation();
  return (
    <AnchorLink to="/labeling" size="xs">
      {t('labeling.title')}
    </AnchorLink>
  );
}
