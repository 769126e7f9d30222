import { Switch } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useDrawn } from './useDrawn';

/** Shows or hides the objects on all pictures. */
export function DrawnSwitch() {
  const { t } = useTranslation();
  const { isShown, setShown } = useDrawn();
  return (
    <Switch
      size="xs"
      label={t('drawn.show')}
      checked={isShown}
      onChange={(event) => setShown(event.currentTarget.checked)}
    />
  );
}
