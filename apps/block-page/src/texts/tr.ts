import type { Texts } from './texts.js';

export const tr: Texts = {
  direction: 'ltr',
  blocked: {
    title: 'Bu site engellendi',
    text: 'Bu siteyi, bu internet bağlantısı için kendi filtre ayarlarınız engelliyor.',
  },
  blockedByLaw: {
    title: 'Bu site yasa gereği engellendi',
    text:
      'İnternet sağlayıcınız bu siteyi tüm müşterileri için engellemek zorundadır. Filtre ' +
      'ayarlarınız bunu değiştirmez.',
  },
  blockedForEverybody: {
    title: 'Bu site herkes için engellendi',
    text:
      'İnternet sağlayıcınız bu siteyi tüm müşterileri için engelliyor. Filtre ayarlarınız ' +
      'bunu değiştirmez.',
  },
  notBlocked: {
    title: 'Bu site engellenmiyor',
    text:
      'Filtre ayarlarınız bu siteyi şu anda engellemiyor. Siteye az önce izin verildiyse ' +
      'cihazınız eski yanıtı hâlâ hatırlıyor olabilir. Bir dakika bekleyin, sonra yeniden ' +
      'deneyin.',
  },
  noName: {
    title: 'Bu, engellenen siteler için gösterilen sayfadır',
    text: 'Bu sayfayı, filtre ayarlarınızın engellediği bir sitenin yerine görüyorsunuz.',
  },
  notReady: {
    title: 'Bu hizmet başlatılıyor',
    text: 'Ayarlarınızı henüz bilmiyor. Lütfen bir dakika sonra yeniden deneyin.',
  },
  reasonLabel: 'Neden',
  reason: {
    category: 'Engellenen kategori',
    application: 'Engellenen uygulama',
    list: 'Engellenen siteler listeniz',
    grant: 'Geçici engel',
    allowListOnly: 'Yalnızca izin verdiğiniz siteler açılabilir',
  },
  authorityLabel: 'Kararı veren kurum',
  referenceLabel: 'Karar numarası',
  leadsToLabel: 'Yönlendirdiği ad',
  scheduleLabel: 'Zaman çizelgesi',
  scheduleUntil: 'Bu ayarların bitişi',
  scheduleFrom: 'Ayarların bir sonraki değişimi',
  incidentLabel: 'Olay numarası',
  incidentHint:
    'Yardım isterseniz olay numarasını kopyalayın. Onu yalnızca sağlayıcınız, bir gün boyunca okuyabilir.',
  advice: 'Filtre ayarlarını yöneten kişi bu siteye izin verebilir.',
  tryAgain: 'Yeniden dene',
  helpLabel: 'Yardım',
  privacy: 'Bu sayfa çerez kullanmaz ve başka sunuculardan hiçbir şey yüklemez.',
};
