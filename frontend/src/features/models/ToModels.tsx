import { useTranslation } from 'react-i18next';
import { AnchorLink } from '@/shared/ui/links';

/** Above the title of a model: the way to all of them. */
export function ToModels() {
  const { t } = useTranslation();
  return (
    <AnchorLink to="/models" size="xs">
      {t('models.title')}
    </AnchorLink>
  );
}
