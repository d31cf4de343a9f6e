use seaway_api::{CreateToken, NewToken, Page, Token};

use crate::client::Client;
use crate::error::ClientError;
use crate::paging::Paging;

impl Client {
    pub async fn tokens(&self, paging: &Paging) -> Result<Page<Token>, ClientError> {
        self.get(self.path().then("tokens")).page(paging).json().await
    }

    pub async fn create_token(&self, create: &CreateToken) -> Result<NewToken, ClientError> {
        self.post(self.path().then("tokens")).body(create).json().await
    }

    pub async fn revoke_token(&self, id: &str) -> Result<(), ClientError> {
        self.delete(self.path().then("tokens").named("token", id)?).done().await
    }
}
