//! Shutting down, and places that are taken.

use super::*;

#[tokio::test]
async fn shutdown_answers_what_is_open_and_closes_what_is_idle() {
    let mut fixture = Fixture::new().await;
    let (mut waiting, mut idle, fresh) = (fixture.client().await, fixture.client().await, fixture.client().await);
    idle.post("hello").await;
    assert_eq!(idle.status().await, 200);
    fixture.expect("handled hello").await;
    fixture.expect("written echo").await;
    waiting.post("wait").await;
    fixture.expect("handled wait").await;
    let addr = fixture.server.addr();
    timeout(BOUND, fixture.server.shutdown()).await.expect("an end although the clock stands still");
    assert_eq!(waiting.response().await.1, "stopping");
    waiting.closed().await;
    idle.closed().await;
    drop(fresh);
    assert!(TcpStream::connect(addr).await.is_err(), "the port is closed");
    assert_eq!(fixture.serving.addr(), None, "another server may start");
}

#[tokio::test]
async fn shutdown_waits_four_seconds_for_a_request_that_does_not_end() {
    let mut fixture = Fixture::new().await;
    let mut client = fixture.client().await;
    client.post("stuck").await;
    fixture.expect("handled stuck").await;
    let (seconds, ()) = Fixture::seconds_until(&fixture.clock, fixture.server.shutdown()).await;
    assert!((4..6).contains(&seconds), "{seconds}");
    assert_eq!(fixture.log.recv().await.unwrap(), "dropped stuck");
    client.closed().await;
}

#[tokio::test]
async fn a_dropped_server_ends_at_once() {
    let mut fixture = Fixture::new().await;
    let mut client = fixture.client().await;
    client.post("stuck").await;
    fixture.expect("handled stuck").await;
    drop(fixture.server);
    client.closed().await;
    assert_eq!(fixture.log.recv().await.unwrap(), "dropped stuck");
}

#[tokio::test]
async fn a_failed_start_leaves_the_place_free_and_says_why() {
    let fixture = Fixture::new().await;
    let taken = fixture.server.addr();
    let serving = Serving::default();
    let try_start = async |addr: SocketAddr, options: ServeOptions| {
        let occupied = serving.occupy(addr).unwrap();
        start(fixture.fake.clone(), &fixture.clock, &Limits::default(), addr, options, occupied).await
    };
    let everywhere = SocketAddr::from(([0, 0, 0, 0], 0));
    let none = ServeOptions::default;
    assert!(matches!(try_start(everywhere, none()).await, Err(ServeError::Unlocked { .. })));
    assert_eq!(serving.addr(), None);
    let error = try_start(taken, none()).await.unwrap_err();
    assert!(matches!(error, ServeError::Bind { .. }) && error.to_string().contains(&taken.to_string()), "{error}");
    let bad = ServeOptions { allow_origins: vec!["desk.example".into()], ..none() };
    assert!(matches!(try_start(local(0), bad).await, Err(ServeError::AllowOrigin(_))));
    assert_eq!(serving.addr(), None);
    for locked in
        [ServeOptions { trust_network: true, ..none() }, ServeOptions { token: Token::new("secret"), ..none() }]
    {
        let server = try_start(everywhere, locked).await.unwrap();
        assert_eq!(serving.addr(), Some(server.addr()), "the real port is known");
        server.shutdown().await;
    }
}

#[tokio::test]
async fn a_host_is_served_at_one_place_at_a_time() {
    let host = Host::builder().build().unwrap();
    let server = serve(&host, local(0)).await.unwrap();
    let error = serve(&host, local(0)).await.unwrap_err();
    assert!(matches!(error, ServeError::Serving { addr } if addr == server.addr()), "{error:?}");
    assert!(error.to_string().contains(&server.url()), "{error}");
    let mut client = Client(TcpStream::connect(server.addr()).await.unwrap());
    client.send("GET /probe HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert!(client.response().await.1.contains("\"server\":\"remontoire\""));
    timeout(BOUND, server.shutdown()).await.expect("an end");
    serve(&host, local(0)).await.unwrap().shutdown().await;
}
