import { useTranslation } from 'react-i18next';
import { AnchorLink } from '@/shared/ui/links';

/** Above the title of a dataset: the way to all of them. */
export function ToDatasets() {
  const { t } = useTranslation();
  return (
    <AnchorLink to="/datasets" size="sm">
      {t('datasets.title')}
    </AnchorLink>
  );
}
